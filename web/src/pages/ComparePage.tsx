import { type FormEvent, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useAttempts, useJob, useJobUsage } from '../api/queries';
import type { Attempt, Job, JobUsage } from '../api/types';
import { Badge } from '../components/Badge';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { Table } from '../components/Table';
import { formatBytes, formatCount, formatDuration, formatGpuHours, formatHosts, formatNodesAsked, formatPercent, formatTime, formatTimes, formatWord, secondsBetween } from '../lib/format';
import { timeRun } from '../lib/timeRun';
import { lastStep, meanPercent, stepTime } from '../lib/usage';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { Usage } from './job/UsageCard';
import '../styles/queue.css';

// Two jobs, or two attempts of one, side by side: /compare?a=17.1&b=18. A job alone is its latest attempt.
export default function ComparePage() {
  useTitle('Compare');
  const query = new URLSearchParams(useSearch());
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
      </div>
      <Choice key={`${a} ${b}`} a={a} b={b} />
      {a === '' || b === '' ? (
        <Empty title="Name two jobs">A job's id, or id.attempt: 17 and 18, or 17.1 and 17.2.</Empty>
      ) : (
        <Both a={a} b={b} />
      )}
    </>
  );
}

function Choice({ a, b }: { a: string; b: string }) {
  const [, go] = useLocation();
  const [left, setLeft] = useState(a);
  const [right, setRight] = useState(b);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    go(`/compare?${new URLSearchParams({ a: left.trim(), b: right.trim() })}`);
  };
  return (
    <form className="history-bar" onSubmit={submit}>
      <label className="field">
        Job or job.attempt
        <input className="input" required value={left} placeholder="17.1" onChange={(event) => setLeft(event.target.value)} />
      </label>
      <label className="field">
        beside
        <input className="input" required value={right} placeholder="17.2" onChange={(event) => setRight(event.target.value)} />
      </label>
      <button className="button primary">Compare</button>
    </form>
  );
}

// "17.2" → job 17, attempt 2; 0 = the latest. A name may have a dot, its end rarely is a number.
function parse(text: string): { job: string; attempt: number } {
  const match = /^(.+)\.(\d+)$/.exec(text);
  return match ? { job: match[1]!, attempt: Number(match[2]) } : { job: text, attempt: 0 };
}

interface Side {
  job: Job;
  attempt: Attempt | undefined;
  usage: JobUsage;
}

function useSide(text: string): { data: Side | undefined; error: Error | null; isPending: boolean } {
  const { job: id, attempt } = parse(text);
  const job = useJob(id);
  const attempts = useAttempts(id);
  const usage = useJobUsage(id, attempt, job.data?.state === 'running');
  const error = job.error ?? attempts.error ?? usage.error;
  const isReady = job.data && attempts.data && usage.data;
  return {
    data: isReady ? { job: job.data, attempt: attempts.data.find((each) => each.attempt === (attempt || job.data.attempt)), usage: usage.data } : undefined,
    error,
    isPending: !isReady && !error,
  };
}

function Both({ a, b }: { a: string; b: string }) {
  const [left, right] = [useSide(a), useSide(b)];
  const now = useNow(10_000);
  const both = left.data && right.data ? ([left.data, right.data] as const) : undefined;
  return (
    <Await answer={{ data: both, error: left.error ?? right.error, isPending: !both }} lines={10}>
      {([one, other]) => (
        <div className="stack">
          <Panel title="What differs" aside="alike in grey">
            <Facts sides={[one, other]} now={now} />
          </Panel>
          <div className="side-by-side">
            {[one, other].map((side, i) => (
              <Panel key={i} title={<Name side={side} />}>
                <Usage usage={side.usage} />
              </Panel>
            ))}
          </div>
        </div>
      )}
    </Await>
  );
}

function Name({ side: { job, attempt } }: { side: Side }) {
  return (
    <Link href={`/jobs/${job.id}${attempt ? `?attempt=${attempt.attempt}` : ''}`}>
      job {job.id} <bdi>{job.name}</bdi>
      {attempt && `, attempt ${attempt.attempt}`}
    </Link>
  );
}

function factsOf({ job, attempt, usage }: Side, now: number): [title: string, value: string][] {
  const busy = meanPercent(usage);
  const step = lastStep(usage);
  const ran = attempt?.running_at ? secondsBetween(attempt.running_at, attempt.ended_at ?? now) : null;
  return [
    ['user', job.user],
    ['program', job.entrypoint === '' ? 'not shown' : `${job.entrypoint} ${job.parameters}`],
    ['in', job.entrypoint === '' ? 'not shown' : job.workspace],
    ['priority', formatWord(job.priority)],
    ['asked for', `${formatNodesAsked(job.node_count, job.gpus_per_node)} of ${job.group}`],
    ['nodes', attempt ? formatHosts(attempt.ranks.map((rank) => rank.node)) : '–'],
    ['placed', formatTime(attempt?.placed_at ?? null, now)],
    ['launched in', attempt?.running_at ? formatDuration(secondsBetween(attempt.placed_at, attempt.running_at)) : '–'],
    ['attempt ran', ran === null ? '–' : formatDuration(ran)],
    ['job ran in all', job.started_at ? formatDuration(timeRun(job, now)) : '–'],
    ['time per step', usage.step_seconds === null ? 'not known' : stepTime(usage.step_seconds)],
    ['step reached', step === null ? 'not known' : formatCount(step)],
    ['GPUs busy', busy === null ? 'not known' : formatPercent(busy, 100)],
    ['stragglers', usage.attempt === 0 ? 'not known' : formatCount(usage.stragglers.length)],
    ['job suspended', formatTimes(job.suspend_count)],
    ['job requeued', formatTimes(job.requeue_count)],
    ['lost work of the job', `${formatGpuHours(job.lost_gpu_seconds)} GPU-hours`],
    ['CPU time of the job', job.cpu_seconds === null ? 'not known' : formatDuration(job.cpu_seconds)],
    ['largest process of the job', job.peak_memory_bytes === null ? 'not known' : formatBytes(job.peak_memory_bytes)],
    ['ended', attempt?.ended_at ? `${formatWord(attempt.state)}: ${attempt.end_reason ?? ''}` : attempt ? 'not yet' : '–'],
  ];
}

function Facts({ sides, now }: { sides: [Side, Side]; now: number }) {
  const [left, right] = [factsOf(sides[0], now), factsOf(sides[1], now)];
  return (
    <Table label="what differs" className="differences">
      <thead>
        <tr>
          <th>
            <span className="sr">what</span>
          </th>
          {sides.map((side, i) => (
            <th key={i}>
              <Name side={side} /> <Badge word={side.attempt?.state ?? side.job.state} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {left.map(([title, value], i) => {
          const other = right[i]![1];
          const tone = value === other ? 'dim' : '';
          return (
            <tr key={title}>
              <td className="dim">{title}</td>
              <td className={`text ${tone}`}><bdi>{value}</bdi></td>
              <td className={`text ${tone}`}><bdi>{other}</bdi></td>
            </tr>
          );
        })}
      </tbody>
    </Table>
  );
}
