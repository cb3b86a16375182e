import { Link } from 'wouter';
import type { QueueEntry } from '../../api/types';
import { Table } from '../../components/Table';
import { formatAgo, formatCount, formatDuration, formatTime, formatWord, secondsBetween } from '../../lib/format';
import { aheadOf, noStart } from '../../lib/queue';

interface Props {
  entries: QueueEntry[];
  horizon: number; // hours
  now: number;
  user: string;
  hasEstimate: boolean;
  lost: readonly string[]; // nodes that have fallen silent since the starts were foreseen
}

export function QueueTable({ entries, horizon, now, user, hasEstimate, lost }: Props) {
  return (
    <Table label="jobs that wait, in order" className="queue-table cards">
      <thead>
        <tr>
          <th className="num">place</th>
          <th>job</th>
          <th>user</th>
          <th>priority</th>
          <th className="num">nodes</th>
          <th>waits</th>
          <th>who is ahead, and why it waits</th>
          <th className="when">expected start</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.id} data-mine={entry.user === user || undefined}>
            <td className="num">{entry.position === null ? <span className="dim" title="it stands in no order now">–</span> : formatCount(entry.position)}</td>
            <td className="title">
              <Link href={`/jobs/${entry.id}`}>
                <span className="dim mono">{entry.id}</span> <bdi>{entry.name}</bdi>
              </Link>
            </td>
            <td>{entry.user}</td>
            <td className="whole">{formatWord(entry.priority)}</td>
            <td className="num" data-label="nodes">
              {formatCount(entry.node_count)}
              {entry.gpus_per_node > 0 && <span className="dim"> × {entry.gpus_per_node}</span>}
            </td>
            <td className="now" data-label="waits">{formatDuration(secondsBetween(entry.waiting_since, now))}</td>
            <td className="text">
              <Ahead entry={entry} />
              <div className="dim">
                <bdi>{entry.pending_reason.text}</bdi>
              </div>
            </td>
            <td className="when">
              <Start entry={entry} horizon={horizon} now={now} none={noStart(entry, hasEstimate, lost)} />
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

export function Ahead({ entry }: { entry: QueueEntry }) {
  if (entry.nodes_held > 0) return <>holds {formatCount(entry.nodes_held)} nodes that others are leaving</>;
  if (entry.position === null) return <>{formatWord(entry.pending_reason.code)}</>;
  const ahead = aheadOf(entry);
  return <>{ahead.length === 0 ? `first of ${entry.group}` : `ahead: ${ahead.join(', ')}`}</>;
}

// A line from p50 to p90 on the axis of the picture above; `none`: why there is none.
export function Start({ entry, horizon, now, none }: { entry: QueueEntry; horizon: number; now: number; none: string }) {
  if (entry.start_p50 === null) return <span className="dim">{none}</span>;
  const place = (time: string): number => Math.min(100, Math.max(0, (100 * (Date.parse(time) - now)) / (horizon * 3_600_000)));
  const [from, to] = [place(entry.start_p50), entry.start_p90 === null ? 100 : place(entry.start_p90)];
  const isNow = Date.parse(entry.start_p50) - now < 1_000;
  const late = entry.start_p90 === null ? 'it may be far later' : `nine in ten by ${formatTime(entry.start_p90, now)}`;
  return (
    <>
      <span className="whole">{isNow ? 'now' : formatAgo(entry.start_p50, now)}</span>{' '}
      <span className="dim small-text">{late}</span>
      <span className="start-bar" aria-hidden="true">
        <i style={{ left: `${from}%`, width: `max(3px, ${to - from}%)` }} />
      </span>
    </>
  );
}
