import { useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useQueue, useUsers, useWhoAmI } from '../api/queries';
import { useLostSince } from '../api/useLostSince';
import { useSilentNodes } from '../api/useSilentNodes';
import { priorities, type Queue, type QueueEntry } from '../api/types';
import { Panel } from '../components/Panel';
import { Await, Empty } from '../components/states';
import { formatCount, formatPlural, formatTime, formatWord } from '../lib/format';
import { type Horizon, horizons, noFilter, type QueueFilter, queueQuery, readQueueFilter, suitableHorizon, withoutLost } from '../lib/queue';
import { silentHosts } from '../lib/silence';
import { useNow } from '../lib/useNow';
import { useTitle } from '../lib/useTitle';
import { QueueTable } from './queue/QueueTable';
import { Stairs } from './queue/Stairs';
import { UnheardJobs } from './queue/UnheardJobs';
import '../styles/queue.css';

// What waits, in order: who is ahead and why, who is on the nodes until when, when each job starts.
export default function QueuePage() {
  useTitle('Queue');
  const search = useSearch();
  const [, go] = useLocation();
  const filter = readQueueFilter(search);
  const queue = useQueue(queueQuery(filter));
  const me = useWhoAmI().data;
  const pages = queue.data?.pages;
  const first = pages?.[0];
  const entries = useMemo(() => (pages ?? []).flatMap((page) => page.entries), [pages]);
  const set = (part: Partial<QueueFilter>): void => {
    const query = queueQuery({ ...filter, ...part });
    go(`/queue${query === '' ? '' : `?${query}`}`, { replace: true });
  };
  return (
    <>
      <div className="page-head">
        <h1>Queue</h1>
        <span className="dim" role="status">{first && howMany(first, queueQuery(filter) !== '')}</span>
        <span className="grow" />
        {me && (
          <Link className="button" href="/mine">
            My jobs
          </Link>
        )}
      </div>
      <Filters filter={filter} groups={first?.groups ?? []} onChange={set} />
      <Await answer={{ data: first, error: queue.error, isPending: queue.isPending, refetch: queue.refetch }} lines={10}>
        {(data) => (
          <Loaded
            queue={data} entries={entries} user={me?.user ?? ''} isFiltered={queueQuery(filter) !== ''}
            onMore={queue.hasNextPage ? () => void queue.fetchNextPage() : null} onAll={() => set(noFilter)}
          />
        )}
      </Await>
    </>
  );
}

// As the overview counts them; below are those that the server has put in order, and tasks when they are made.
function howMany({ total, groups }: Queue, isFiltered: boolean): string {
  const waiting = isFiltered ? total : Math.max(total, groups.reduce((sum, group) => sum + group.waiting, 0));
  const text = `${formatPlural(waiting, 'job')} ${waiting === 1 ? 'waits' : 'wait'}`;
  return waiting > total ? `${text}, ${formatCount(total)} of them in order below` : text;
}

function Filters({ filter, groups, onChange }: { filter: QueueFilter; groups: Queue['groups']; onChange: (part: Partial<QueueFilter>) => void }) {
  const users = useUsers().data ?? [];
  const teams = useMemo(() => [...new Set(users.flatMap((user) => user.groups))].sort(), [users]);
  const choice = (label: string, key: keyof QueueFilter, words: readonly string[]) => (
    <select className="select" aria-label={label} value={filter[key]} onChange={(event) => onChange({ [key]: event.target.value })}>
      <option value="">{label}</option>
      {[...new Set([...words, ...(filter[key] === '' ? [] : [filter[key]])])].map((word) => (
        <option key={word} value={word}>
          {formatWord(word)}
        </option>
      ))}
    </select>
  );
  return (
    <div className="queue-filters" role="group" aria-label="show only">
      {choice('any user', 'user', users.map((user) => user.name))}
      {choice('any team', 'team', teams)}
      {choice('any priority', 'priority', priorities)}
      {choice('any node group', 'group', groups.map((each) => each.group))}
    </div>
  );
}

interface LoadedProps {
  queue: Queue;
  entries: QueueEntry[];
  user: string;
  isFiltered: boolean;
  onMore: (() => void) | null;
  onAll: () => void;
}

function Loaded({ queue, entries: all, user, isFiltered, onMore, onAll }: LoadedProps) {
  const now = useNow(10_000);
  const [chosen, setChosen] = useState<Horizon | null>(null);
  const lost = useLostSince(queue.estimated_at);
  const entries = useMemo(() => withoutLost(all, lost), [all, lost]);
  const silent = useSilentNodes();
  const suitable = useMemo(() => suitableHorizon(entries, queue.blocks, now), [entries, queue.blocks, now]);
  const horizon = chosen ?? suitable;
  const groups = queue.groups.filter((group) => group.nodes > 0 && queue.blocks.some((block) => block.group === group.group));
  const scale = (
    <select className="select small" aria-label="how far ahead" value={horizon} onChange={(event) => setChosen(Number(event.target.value) as Horizon)}>
      {horizons.map((hours) => (
        <option key={hours} value={hours}>
          next {hours <= 24 ? `${hours} hours` : `${hours / 24} days`}
        </option>
      ))}
    </select>
  );
  return (
    <div className="stack">
      <Panel title="Nodes over the next hours" aside={scale}>
        {groups.length === 0 ? (
          <Empty title="No node is in use">Whatever fits starts at once.</Empty>
        ) : (
          <div className="stairs-row">
            {groups.map((group) => (
              <Stairs key={group.group} group={group} blocks={queue.blocks} entries={entries} horizon={horizon} now={now} user={user} isUnheard={(job) => silent.has(job)} />
            ))}
          </div>
        )}
        <p className="legend" style={{ marginTop: 'var(--s2)' }}>
          <span><i style={{ background: 'var(--gpu-used)' }} />in use, even odds</span>
          <span><i className="faint-used" />until then, nine in ten</span>
          <span><i style={{ background: 'var(--accent)' }} />yours</span>
          <span><i style={{ background: 'var(--gpu-reserved)' }} />held for a job</span>
          <span><i style={{ background: 'var(--queued)' }} />waits, where it is expected to start{onMore && `, of the first ${formatCount(entries.length)}`}</span>
          <span><i className="hatched" />closed or not up</span>
          {silent.size > 0 && <span><i className="hatched unheard" />not heard</span>}
        </p>
        <UnheardJobs silent={silent} />
        <p className="dim small-text">
          Ends are what jobs like these ran for, if nobody interrupts them. Order of {formatTime(queue.at, now)}; {queue.estimated_at ? `starts foreseen at ${formatTime(queue.estimated_at, now)}: ` : ''}
          {queue.estimate_note}.
        </p>
      </Panel>
      {lost.length > 0 && (
        <p className="failure" role="status">
          The starts that were foreseen at {formatTime(queue.estimated_at, now)} are left out: they counted on {silentHosts(lost)}, of which nothing is heard since. They come back when they are foreseen anew.
        </p>
      )}
      <Panel title="In order" aside={`${formatCount(entries.length)} of ${formatCount(queue.total)}`}>
        {entries.length === 0 ? (
          <Empty title={isFiltered ? 'No such job waits' : 'No job waits'}>
            {isFiltered && (
              <button className="button small" onClick={onAll}>
                Show all
              </button>
            )}
          </Empty>
        ) : (
          <QueueTable entries={entries} horizon={horizon} now={now} user={user} hasEstimate={queue.estimated_at !== null} lost={lost} />
        )}
        {onMore && (
          <button className="button small" style={{ marginTop: 'var(--s2)' }} onClick={onMore}>
            Show more
          </button>
        )}
      </Panel>
    </div>
  );
}
