import { useMemo } from 'react';
import { Link } from 'wouter';
import { useAttemptsOf, useJobList, useQueue, useWhoAmI } from '../api/queries';
import type { Attempt, Job, QueueEntry, Quota } from '../api/types';
import { useLostSince } from '../api/useLostSince';
import { useSilentNodes } from '../api/useSilentNodes';
import { Badge } from '../components/Badge';
import { JobActions } from '../components/JobActions';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { Unheard } from '../components/Unheard';
import { formatAgo, formatCount, formatEnd, formatPast, formatPlural, formatTime, formatWord, secondsBetween } from '../lib/format';
import { nextStep, nightOf, nightSeconds } from '../lib/night';
import { adviceFor, fullQuotas, noStart, withoutLost } from '../lib/queue';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { stateWord } from './jobs/columns';
import { Ahead } from './queue/QueueTable';
import '../styles/queue.css';

const shownMax = 25; // jobs of each kind whose attempts are looked at

// Where a researcher lands: what each of his jobs waits for, what it did last night, what he can do.
export default function MinePage() {
  useTitle('My jobs');
  const me = useWhoAmI();
  return (
    <>
      <div className="page-head">
        <h1>My jobs</h1>
        <span className="grow" />
        <Link className="button" href="/queue">
          Whole queue
        </Link>
        <Link className="button primary" href="/submit">
          Submit
        </Link>
      </div>
      <Await answer={me} lines={8}>
        {({ user, quotas }) => <Mine user={user} quotas={quotas} />}
      </Await>
    </>
  );
}

function Mine({ user, quotas }: { user: string; quotas: readonly Quota[] }) {
  const now = useNow(10_000);
  const whose = `user=${encodeURIComponent(user)}`;
  const queue = useQueue(whose);
  const unfinished = useJobList(`${whose}&state=running&state=queued&state=suspended`, 0);
  const finished = useJobList(`${whose}&state=succeeded&state=failed&state=stopped`, 0);
  const foreseenAt = queue.data?.pages[0]?.estimated_at ?? null;
  const lost = useLostSince(foreseenAt);
  const entries = useMemo(() => new Map(withoutLost((queue.data?.pages ?? []).flatMap((page) => page.entries), lost).map((entry) => [entry.id, entry])), [queue.data, lost]);
  const recent = finished.jobs.filter((job) => job.ended_at !== null && secondsBetween(job.ended_at, now) <= nightSeconds);
  const running = unfinished.jobs.filter((job) => job.state === 'running');
  // As they stand in the queue; those that stand nowhere last.
  const place = (job: Job): number => entries.get(job.id)?.position ?? Infinity;
  const waiting = unfinished.jobs.filter((job) => job.state !== 'running').sort((a, b) => place(a) - place(b) || a.id - b.id);
  const none = (entry: QueueEntry): string => noStart(entry, foreseenAt !== null, lost);
  // Where all of them are.
  const rest = (states: string): string => `/jobs?${states}&${whose}`;
  const count = (jobs: readonly Job[]): string => `${unfinished.isComplete || !unfinished.isKnown ? '' : 'at least '}${formatPlural(jobs.length, 'job')}`;
  const list = (jobs: readonly Job[], nothing: string, all: string, from = unfinished) => (
    <Await answer={{ data: from.isLoading || (from.error && jobs.length === 0) ? undefined : jobs, error: from.error, isPending: from.isLoading }}>
      {(known) => (known.length === 0 ? <Empty title={nothing} /> : <List jobs={known} rest={all} entries={entries} now={now} none={none} />)}
    </Await>
  );
  const full = fullQuotas(quotas);
  return (
    <div className="stack">
      {full.length > 0 && (
        <p className="note">
          Your quota is used up: {full.map((each) => `${formatCount(each.nodes_used)} of ${formatCount(each.nodes ?? 0)} nodes at ${formatWord(each.priority)} in ${each.group === '*' ? 'every group' : each.group}`).join('; ')}.
        </p>
      )}
      <Panel title="Waiting" aside={count(waiting)}>{list(waiting, 'None of your jobs waits', rest('state=queued&state=suspended'))}</Panel>
      <Panel title="Running" aside={count(running)}>{list(running, 'None of your jobs runs', rest('state=running'))}</Panel>
      <Panel title={`Ended in the last ${nightSeconds / 3600} hours`} aside={<Link href={`/jobs?state=all&${whose}`}>all of yours</Link>}>
        {list(recent, 'None of your jobs has ended since', rest('state=succeeded&state=failed&state=stopped'), finished)}
      </Panel>
    </div>
  );
}

interface ListProps {
  jobs: readonly Job[];
  rest: string; // the address of all of them
  entries: ReadonlyMap<number, QueueEntry>;
  now: number;
  none: (entry: QueueEntry) => string; // why it has no expected start
}

function List({ jobs, rest, entries, now, none }: ListProps) {
  const shown = jobs.slice(0, shownMax);
  const attempts = useAttemptsOf(shown.map((job) => job.id));
  const silent = useSilentNodes();
  return (
    <>
      <ul>
        {shown.map((job, i) => (
          <li key={job.id} className="mine-job">
            <Unheard job={job} nodes={silent.get(job.id)} />
            <One job={job} entry={entries.get(job.id)} attempts={attempts[i]} now={now} none={none} />
          </li>
        ))}
      </ul>
      {jobs.length > shown.length && <p className="links"><Link href={rest}>and {formatPlural(jobs.length - shown.length, 'job')} more</Link></p>}
    </>
  );
}

function One({ job, entry, attempts, now, none }: { job: Job; entry: QueueEntry | undefined; attempts: Attempt[] | undefined; now: number; none: (entry: QueueEntry) => string }) {
  const todo = entry ? adviceFor(entry) : nextStep(job);
  return (
    <>
      <div className="row wrap">
        <Link href={`/jobs/${job.id}`}>
          <span className="dim mono">{job.id}</span> <b><bdi>{job.name}</bdi></b>
        </Link>
        <Badge word={stateWord(job)} boxed />
        <span className="dim">
          {formatWord(job.priority)} · {formatPlural(job.node_count, 'node')} of {job.group}
        </span>
        <span className="grow" />
        <JobActions jobs={[job]} />
      </div>
      <dl>
        {entry && (
          <>
            <dt>waits for</dt>
            <dd>
              <bdi>{entry.pending_reason.text}</bdi>
            </dd>
            <dt>place</dt>
            <dd>
              {entry.position !== null && <b>{formatCount(entry.position)}</b>} {entry.position !== null && '· '}<Ahead entry={entry} />
            </dd>
            <dt>starts</dt>
            <dd>
              <Expected entry={entry} now={now} none={none(entry)} />
            </dd>
          </>
        )}
        {job.end_reason && job.ended_at && (
          <>
            <dt>ended</dt>
            <dd>
              {formatPast(job.ended_at, now)}: <bdi>{formatEnd(job.end_reason, job.exit_code)}</bdi>
            </dd>
          </>
        )}
        <dt>{job.array ? 'tasks' : 'last night'}</dt>
        <dd>{attempts ? nightOf(job, attempts, now) : '…'}</dd>
        {todo !== '' && (
          <>
            <dt>to do</dt>
            <dd>{todo}</dd>
          </>
        )}
      </dl>
    </>
  );
}

function Expected({ entry, now, none }: { entry: QueueEntry; now: number; none: string }) {
  if (entry.start_p50 === null) return <>{none}</>;
  const isNow = Date.parse(entry.start_p50) - now < 1_000;
  return (
    <>
      {isNow ? 'now' : formatAgo(entry.start_p50, now)}, even odds{entry.start_p90 && `; nine in ten by ${formatTime(entry.start_p90, now)}`}
    </>
  );
}
