import { Link } from 'wouter';
import type { ClusterEvent } from '../api/types';
import { formatTime, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Empty } from './states';

function Subject({ subject }: { subject: string }) {
  const [kind, name = ''] = subject.split('/');
  if (kind === 'job') return <Link href={`/jobs/${name}`}>job {name}</Link>;
  if (kind === 'node') return <Link href={`/nodes/${encodeURIComponent(name)}`}>{name}</Link>;
  return <span>{subject}</span>;
}

export function EventFeed({ events, withSubject = false }: { events: readonly ClusterEvent[]; withSubject?: boolean }) {
  const now = useNow(60_000);
  if (events.length === 0) return <Empty title="Nothing has happened yet" />;
  return (
    <ul className={withSubject ? 'feed with-subject' : 'feed'}>
      {events.map((event) => (
        <li key={event.seq} title={`event ${event.seq}, by ${event.actor}`}>
          <time className="dim" dateTime={event.time}>
            {formatTime(event.time, now).slice(-8)}
          </time>
          {withSubject && (
            <span className="clip">
              <Subject subject={event.subject} />
            </span>
          )}
          <span className={withSubject ? 'clip' : ''} title={`${formatWord(event.kind)}: ${event.text}`}>
            <bdi>{event.text || formatWord(event.kind)}</bdi> <span className="dim">{event.actor}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
