import { useMemo } from 'react';
import { Link } from 'wouter';
import { useJobUsage } from '../../api/queries';
import type { Attempt, Job, JobUsage } from '../../api/types';
import { Panel } from '../../components/Panel';
import { SaveChart } from '../../components/SaveChart';
import { Await } from '../../components/states';
import type { CsvColumn } from '../../lib/csv';
import { formatCount, formatDuration, formatPlural, formatTime, secondsBetween } from '../../lib/format';
import { hasGpus, hasMemory, hasSteps, sparkOf, stepSeconds, stepTime, unknownOf } from '../../lib/usage';
import { StepTimes } from './StepTimes';
import '../../styles/queue.css';

// Of each rank how busy its GPUs were and how far it came, as small multiples; those that stand out first.
export default function UsageCard({ job, attempt, attempts }: { job: Job; attempt: number; attempts: readonly Attempt[] }) {
  const usage = useJobUsage(String(job.id), attempt, job.state === 'running');
  const other = attempts.find((each) => each.attempt !== attempt);
  return (
    <Panel
      title={`Ranks over time, attempt ${attempt}`}
      aside={
        <>
          <Link href={`/compare?a=${job.id}.${attempt}${other ? `&b=${job.id}.${other.attempt}` : ''}`}>{other ? `beside attempt ${other.attempt}` : 'beside another job'}</Link>{' '}
          {usage.data && usage.data.at.length > 0 && <SaveRanks name={`job-${job.id}-attempt-${attempt}`} usage={usage.data} />}
        </>
      }
    >
      <Await answer={usage} lines={3}>
        {(data) => <Usage usage={data} />}
      </Await>
    </Panel>
  );
}

function SaveRanks({ name, usage }: { name: string; usage: JobUsage }) {
  const times = usage.at.map((at) => Date.parse(at));
  return (
    <SaveChart
      name={`${name}-ranks`}
      title="the ranks over time"
      csv={({ csvOf }) => csvOf(times, columnsOf(usage, times))}
      svg={({ multiplesSvg }, here) => multiplesSvg(`Ranks over time, ${name}: GPUs busy, their memory taken (dashed), 0 to 100 %, and steps (rising)`, here.closest('.panel')!.querySelector('[data-ranks]') ?? here)}
    />
  );
}

const columnsOf = (usage: JobUsage, times: readonly number[]): CsvColumn[] =>
  usage.ranks.flatMap((rank) => [
    { label: `rank ${rank.rank} on ${rank.node} GPUs busy (%)`, values: rank.gpu_percent },
    { label: `rank ${rank.rank} on ${rank.node} GPU memory taken (%)`, values: rank.gpu_memory_percent },
    { label: `rank ${rank.rank} on ${rank.node} step`, values: rank.step },
    { label: `rank ${rank.rank} on ${rank.node} time per step (s)`, values: stepSeconds(rank.step, times) },
  ]);

export function Usage({ usage }: { usage: JobUsage }) {
  const now = Date.now();
  const times = useMemo(() => usage.at.map((at) => Date.parse(at)), [usage.at]);
  const top = useMemo(() => Math.max(1, ...usage.ranks.flatMap((rank) => rank.step.map((step) => step ?? 0))), [usage.ranks]);
  const behind = new Map(usage.stragglers.map((each) => [each.rank, each.text]));
  const span = usage.at.length > 1 ? secondsBetween(usage.at[0]!, usage.at.at(-1)!) : 0;
  return (
    <div className="stack">
      {usage.stragglers.length > 0 && (
        <div className="failure">
          <b>{formatPlural(usage.stragglers.length, 'straggler')}</b>
          <ul>
            {usage.stragglers.slice(0, 5).map((each) => (
              <li key={each.rank}>
                rank {each.rank} on <Link href={`/nodes/${encodeURIComponent(each.node)}`}>{each.node}</Link>: {each.text}
              </li>
            ))}
          </ul>
          {usage.stragglers.length > 5 && `and ${formatCount(usage.stragglers.length - 5)} more`}
        </div>
      )}
      {usage.attempt > 0 && (
        <p className="dim small-text">
          {usage.step_seconds !== null && <>{stepTime(usage.step_seconds)} per step · </>}
          {span > 0 ? `${formatDuration(span)} up to ${formatTime(usage.at.at(-1)!, now)}` : 'one look so far'}
          {usage.ranks.length < usage.rank_count && ` · ${formatCount(usage.ranks.length)} of ${formatCount(usage.rank_count)} ranks are shown`}
        </p>
      )}
      {usage.metrics.length > 0 && <Metrics usage={usage} />}
      {(hasGpus(usage) || hasSteps(usage)) && (
        <>
          <p className="legend">
            {hasGpus(usage) && <span><i style={{ background: 'var(--gpu-used)' }} />GPUs busy, 0 to 100 %</span>}
            {hasMemory(usage) && <span><i style={{ background: 'var(--gpu-reserved)' }} />their memory taken, 0 to 100 %</span>}
            {hasSteps(usage) && <span><i style={{ background: 'var(--queued)' }} />step, 0 to {formatCount(top)}</span>}
          </p>
          <ul className="multiples" data-ranks>
            {usage.ranks.map((rank) => {
              const gpu = sparkOf(rank.gpu_percent, times, 100);
              const memory = sparkOf(rank.gpu_memory_percent, times, 100);
              const step = sparkOf(rank.step, times, top);
              const what = [gpu.last !== null && `${gpu.last} %`, memory.last !== null && `memory ${memory.last} %`, step.last !== null && `step ${formatCount(step.last)}`].filter(Boolean).join(', ');
              return (
                <li key={rank.rank} className="multiple" data-behind={behind.has(rank.rank) || undefined} title={behind.get(rank.rank)}>
                  <b>rank {rank.rank}</b> <span className="dim">{rank.node}</span>
                  <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={`rank ${rank.rank} on ${rank.node}: now ${what === '' ? 'nothing known' : what}`}>
                    <path d={gpu.path} fill="none" stroke="var(--gpu-used)" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
                    <path d={memory.path} fill="none" stroke="var(--gpu-reserved)" strokeWidth={1.5} strokeDasharray="3 2" vectorEffect="non-scaling-stroke" />
                    <path d={step.path} fill="none" stroke="var(--queued)" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
                  </svg>
                  <span className="dim">{what === '' ? 'nothing known' : what}</span>
                </li>
              );
            })}
          </ul>
        </>
      )}
      <StepTimes usage={usage} times={times} />
      {unknownOf(usage).map((text) => (
        <p key={text} className="note">{text}</p>
      ))}
    </div>
  );
}

// What its program reports of its work, each between its own least and most.
function Metrics({ usage }: { usage: JobUsage }) {
  return (
    <div>
      <p className="row dim small-text">
        Metrics, as rank {usage.metrics[0]!.rank} reports them
        <SaveChart
          name={`job-metrics-attempt-${usage.attempt}`}
          title="the metrics"
          csv={({ csvRows }) => csvRows([['time', 'metric', 'value'], ...usage.metrics.flatMap(({ name, at, value }) => at.map((time, i) => [time, name, value[i]!]))])}
          svg={({ multiplesSvg }, here) => multiplesSvg('Metrics', here.closest('div')!)}
        />
      </p>
      <ul className="multiples" aria-label={`metrics, as rank ${usage.metrics[0]!.rank} reports them`}>
        {usage.metrics.map(({ name, at, value }) => {
          const [least, most] = [Math.min(...value), Math.max(...value)];
          const line = sparkOf(value.map((each) => each - least), at.map((each) => Date.parse(each)), most - least || 1);
          return (
            <li key={name} className="multiple metric">
              <b><bdi>{name}</bdi></b> <span className="dim">{formatMetric(least)} to {formatMetric(most)}</span>
              <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={`${name}: now ${formatMetric(value.at(-1)!)}`}>
                <path d={line.path} fill="none" stroke="var(--accent)" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
              </svg>
              <span className="dim">{formatMetric(value.at(-1)!)}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

const formatMetric = (value: number): string => String(Number(value.toPrecision(4)));
