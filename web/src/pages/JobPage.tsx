import { Suspense, useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useAttempts, useJob, useJobEvents, useNode, useWhoAmI } from '../api/queries';
import type { Job } from '../api/types';
import { useSilentNodes } from '../api/useSilentNodes';
import { AuditLines } from '../components/AuditLine';
import { Badge } from '../components/Badge';
import { CodeBoundary, part } from '../components/CodeBoundary';
import { EventFeed } from '../components/EventFeed';
import { JobActions } from '../components/JobActions';
import { Panel } from '../components/Panel';
import { Await, Failure, Loading } from '../components/states';
import { Timeline } from '../components/Timeline';
import { Unheard } from '../components/Unheard';
import { formatBytes, formatCount, formatDuration, formatEnd, formatGpuHours, formatNodesAsked, formatPast, formatTime, formatTimes, formatUsed, formatWord } from '../lib/format';
import { buildTimeline } from '../lib/timeline';
import { timeRun } from '../lib/timeRun';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { Attempts, Ranks } from './job/Attempts';
import { CheckpointCard } from './job/CheckpointCard';
import { ServicesCard } from './job/ServicesCard';
import { WhyCard } from './job/WhyCard';
import { stateWord } from './jobs/columns';

const AskedHost = part(() => import('./job/AskedHost'));
const UsageCard = part(() => import('./job/UsageCard'));
const LogView = part(() => import('./job/log/LogView'));

export default function JobPage({ id }: { id: string }) {
  const job = useJob(id);
  useTitle(job.data ? `${job.data.name}, ${stateWord(job.data)}` : `Job ${id}`);
  return (
    <>
      {!job.data && <h1 className="sr">Job {id}</h1>}
      <Await answer={job} lines={8}>
        {(data) => <Loaded job={data} />}
      </Await>
    </>
  );
}

function Loaded({ job }: { job: Job }) {
  const id = String(job.id);
  const attempts = useAttempts(id);
  const events = useJobEvents(id);
  const silent = useSilentNodes();
  const [, go] = useLocation();
  const query = new URLSearchParams(useSearch());
  const list = attempts.data ?? [];
  const shown = Number(query.get('attempt') ?? list[0]?.attempt ?? 0);
  const rank = Number(query.get('rank') ?? 0);
  const line = query.get('at');
  const at = line !== null && /^\d+$/.test(line) ? Number(line) : null;
  const pick = (attempt: number, nextRank: number, nextAt?: number): void =>
    go(`/jobs/${id}?attempt=${attempt}&rank=${nextRank}${nextAt === undefined ? '' : `&at=${nextAt}`}`, { replace: true });
  const isWaiting = job.state === 'queued' || job.state === 'suspended';
  return (
    <>
      <Head job={job} />
      <Unheard job={job} nodes={silent.get(job.id)} />
      <div className="job-page">
        <div className="stack">
          <Life job={job} attempts={list} events={events.data ?? []} />
          {isWaiting && <WhyCard job={job} />}
          {attempts.error && !attempts.data && <Failure error={attempts.error} onRetry={() => void attempts.refetch()} />}
          {list.length > 0 && <Ranks wanted={shown} attempt={list.find((each) => each.attempt === shown)} onLog={(next) => pick(shown, next)} />}
          {list.length > 0 && (
            <CodeBoundary>
              <Suspense fallback={<Panel title="Ranks over time"><Loading /></Panel>}>
                <UsageCard job={job} attempt={shown} attempts={list} />
              </Suspense>
            </CodeBoundary>
          )}
          {list.length > 0 && (
            <Suspense fallback={<Loading height="34rem" />}>
              <LogView job={id} attempts={list} attempt={shown} rank={rank} at={at} onPick={pick} />
            </Suspense>
          )}
          <AuditLines about={{ target: `job/${job.id}` }} title="Who did what with it" />
        </div>
        <div className="stack">
          <CheckpointCard job={job} />
          <ServicesCard job={job} />
          <Resources job={job} />
          <Panel title="Events" aside="newest first">
            <Await answer={events}>
              {(all) => (
                <div className="scroll" tabIndex={0} role="region" aria-label="events">
                  <EventFeed events={all} about={`job/${job.id}`} />
                </div>
              )}
            </Await>
          </Panel>
        </div>
      </div>
    </>
  );
}

function Head({ job }: { job: Job }) {
  const me = useWhoAmI().data;
  return (
    <div className="page-head">
      <h1>
        <span className="dim mono">{job.id}</span> <bdi>{job.name}</bdi>
      </h1>
      <Badge word={stateWord(job)} boxed />
      {job.held && <Badge word="held" boxed />}
      <span className="dim">
        <Link href={`/jobs?state=all&user=${encodeURIComponent(job.user)}`}>{job.user}</Link> · {formatWord(job.priority)} ·{' '}
        {formatCount(job.node_count)} {job.node_count === 1 ? 'node' : 'nodes'} of {job.group}
        {job.zone && `#${job.zone}`}
      </span>
      {job.tags.map((tag) => (
        <Link key={tag} href={`/jobs?state=all&tag=${encodeURIComponent(tag)}`} className="tag">
          {tag}
        </Link>
      ))}
      <span className="grow" />
      {me?.user === job.user && job.state === 'running' && !job.array && (
        <Link href={`/jobs/${job.id}/shell`} className="button">
          Shell
        </Link>
      )}
      <JobActions jobs={[job]} />
      <Link href={`/submit?from=${job.id}`} className="button">
        Run again
      </Link>
    </div>
  );
}

type Parts = Parameters<typeof buildTimeline>;
function Life({ job, attempts, events }: { job: Job; attempts: Parts[1]; events: Parts[2] }) {
  const now = useNow();
  const segments = useMemo(() => buildTimeline(job, attempts, events, now), [job, attempts, events, now]);
  const end = job.end_reason && !['running', 'queued'].includes(job.state) ? job.end_reason : null;
  return (
    <Panel
      title="Life"
      aside={`submitted ${formatPast(job.submitted_at, now)}${job.ended_at ? `, ended ${formatPast(job.ended_at, now)}` : ''}`}
    >
      <div className="stack">
        <Timeline segments={segments} now={now} />
        {end && (
          <p className={job.state === 'failed' ? 'failure' : 'note'}>
            <bdi>{formatEnd(end, job.exit_code)}</bdi>
          </p>
        )}
        <Attempts attempts={attempts} />
      </div>
    </Panel>
  );
}

function Resources({ job }: { job: Job }) {
  const now = useNow(10_000);
  return (
    <Panel title="Asked for">
      <dl className="facts">
        {job.array && <ArrayFacts id={job.id} array={job.array} />}
        {job.array_task && (
          <>
            <dt>task</dt>
            <dd>
              {job.array_task.index} of <Link href={`/jobs/${job.array_task.array}`}>array {job.array_task.array}</Link>
            </dd>
          </>
        )}
        <dt>nodes</dt>
        <dd>{formatNodesAsked(job.node_count, job.gpus_per_node)}</dd>
        <CodeBoundary>
          <Suspense fallback={null}>
            <AskedHost job={job} />
          </Suspense>
        </CodeBoundary>
        <dt>program</dt>
        {job.entrypoint === '' ? (
          <dd className="dim">shown to {job.user}, who shares a user group, and operators</dd>
        ) : (
          <dd className="mono">
            {job.entrypoint} {job.parameters}
          </dd>
        )}
        {job.workspace !== '' && (
          <>
            <dt>in</dt>
            <dd className="mono">{job.workspace}</dd>
          </>
        )}
        <dt>submitted</dt>
        <dd>{formatTime(job.submitted_at, now)}</dd>
        <dt>first start</dt>
        <dd>{formatTime(job.started_at, now)}</dd>
        <dt>ran for</dt>
        <dd>{job.started_at ? formatDuration(timeRun(job, now)) : '–'}</dd>
        <dt>suspended</dt>
        <dd>{formatTimes(job.suspend_count)}</dd>
        <dt>requeued</dt>
        <dd>{formatTimes(job.requeue_count)}</dd>
        <dt>lost work</dt>
        <dd>{formatGpuHours(job.lost_gpu_seconds)} GPU-hours</dd>
        {(job.peak_memory_bytes !== null || (job.ended_at !== null && job.started_at !== null)) && (
          <>
            <dt>used</dt>
            <dd title="by the processes of ranks that have ended, in all attempts">{formatUsed(job)}</dd>
          </>
        )}
        {job.nodes[0] && <NodeFacts name={job.nodes[0]} />}
      </dl>
    </Panel>
  );
}

function ArrayFacts({ id, array }: { id: number; array: NonNullable<Job['array']> }) {
  const ended = array.succeeded + array.failed + array.stopped;
  return (
    <>
      <dt>array</dt>
      <dd>
        {array.range}: <Link href={`/jobs?state=all&array=${id}`}>{formatCount(array.tasks)} tasks</Link>
      </dd>
      <dt>so far</dt>
      <dd>
        {formatCount(array.unfinished)} unfinished, {formatCount(ended)} ended
        {array.failed > 0 && `, of which ${formatCount(array.failed)} failed`}
        {array.made < array.tasks && `, ${formatCount(array.tasks - array.made)} still to come`}
      </dd>
    </>
  );
}

function NodeFacts({ name }: { name: string }) {
  const node = useNode(name).data;
  if (!node) return null;
  return (
    <>
      <dt>kind of node</dt>
      <dd>
        {node.gpus} × {node.gpu_model}, {node.cpus} CPUs, {formatBytes(node.memory_bytes)}
      </dd>
    </>
  );
}
