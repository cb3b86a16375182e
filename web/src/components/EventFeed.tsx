import { useMemo } from 'react';
import { Link } from 'wouter';
import type { ClusterEvent } from '../api/types';
import { type EventGroup, groupEvents } from '../lib/eventGroups';
import { formatCount, formatTime, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Empty } from './states';

function Subject({ subject }: { subject: string }) {
  const [kind, name = ''] = subject.split('/');
  if (kind === 'job') return <Link href={`/jobs/${name}`}>job {name}</Link>;
  if (kind === 'node') return <Link href={`/nodes/${encodeURIComponent(name)}`}>{name}</Link>;
  return <span>{subject}</span>;
}

// `most`: of all jobs and nodes, the same of many as one line, at most so many lines; else each event.
export function EventFeed({ events, withSubject = false, most }: { events: readonly ClusterEvent[]; withSubject?: boolean; most?: number }) {
  const now = useNow(60_000);
  const lines = useMemo<EventGroup[]>(() => (most === undefined ? events.map((event) => ({ newest: event, count: 1, subjects: 1, text: event.text })) : groupEvents(events, most)), [events, most]);
  if (events.length === 0) return <Empty title="Nothing has happened yet" />;
  return (
    <ul className={withSubject ? 'feed with-subject' : 'feed'}>
      {lines.map(({ newest: event, count, subjects, text }) => (
        <li key={event.seq} title={count > 1 ? `${formatCount(count)} events, the newest ${event.seq}` : `event ${event.seq}, by ${event.actor}`}>
          <time className="dim" dateTime={event.time}>
            {formatTime(event.time, now).slice(-8)}
          </time>
          {withSubject && (
            <span className="clip">
              {count > 1 ? <b>{formatCount(subjects)} {event.subject.split('/')[0]}s</b> : <Subject subject={event.subject} />}
            </span>
          )}
          <span className={withSubject ? 'clip' : ''} title={`${formatWord(event.kind)}: ${text}`}>
            <bdi>{text || formatWord(event.kind)}</bdi> <span className="dim">{event.actor}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
