import { useMemo } from 'react';
import { Link } from 'wouter';
import type { ClusterEvent } from '../api/types';
import { type EventGroup, groupEvents, placeOf, spanOf } from '../lib/eventGroups';
import { formatCount, formatPlural, formatTime, formatWord } from '../lib/format';
import { useNow } from '../lib/useNow';
import { Empty } from './states';

const periodMs = 10_000;
const namesMax = 60;

function Subject({ subject }: { subject: string }) {
  const [kind, name = ''] = subject.split('/');
  if (kind === 'job') return <Link href={`/jobs/${name}`}>job {name}</Link>;
  if (kind === 'node') return <Link href={`/nodes/${encodeURIComponent(name)}`}>{name}</Link>;
  return <span>{subject}</span>;
}

// How many, with a link to where they are seen together.
function Many({ group }: { group: EventGroup }) {
  const { names, count } = group;
  const place = placeOf(group);
  if (names.length === 1) return <b>{formatCount(count)} times</b>;
  const text = formatPlural(names.length, names[0]!.split('/')[0]!);
  return <b className="links">{place === '' ? text : <Link href={place}>{text}</Link>}</b>;
}

// Each of a group: the different jobs or nodes, or when one of them did it again.
function Members({ group: { names, all }, now }: { group: EventGroup; now: number }) {
  const lines = names.length > 1 ? names : all.map((event) => event.time);
  return (
    <details className="feed-members">
      <summary>{names.length > 1 ? 'which' : 'when'}</summary>
      <p className="row wrap" style={{ gap: '0 var(--s3)' }}>
        {lines.slice(0, namesMax).map((each, i) => (
          <span key={names.length > 1 ? each : i}>{names.length > 1 ? <Subject subject={each} /> : formatTime(each, now)}</span>
        ))}
        {lines.length > namesMax && <span className="dim">and {formatCount(lines.length - namesMax)} more</span>}
      </p>
    </details>
  );
}

function Line({ group, about, now }: { group: EventGroup; about: string | undefined; now: number }) {
  const { newest: event, count, text } = group;
  const isGroup = count > 1;
  const subject = isGroup ? <Many group={group} /> : event.subject === about ? null : <Subject subject={event.subject} />;
  return (
    <li title={isGroup ? `${formatCount(count)} events, the newest ${event.seq}` : `event ${event.seq}, by ${event.actor}`}>
      <time className="dim" dateTime={event.time}>
        {formatTime(event.time, now).slice(-8)}
      </time>
      {about === undefined && <span className="clip">{subject}</span>}
      <span className={about === undefined ? 'feed-text clip' : 'feed-text'} title={`${formatWord(event.kind)}: ${text}`}>
        {about !== undefined && subject} <bdi>{text || formatWord(event.kind)}</bdi> <span className="dim">{isGroup ? spanOf(group, now + periodMs) : event.actor}</span>
      </span>
      {isGroup && <Members group={group} now={now} />}
    </li>
  );
}

// `about`: the job or node whose page this is; without it, of all jobs and nodes. What many say alike is one
// line. `most`: lines.
export function EventFeed({ events, about, most }: { events: readonly ClusterEvent[]; about?: string; most?: number }) {
  const now = useNow(periodMs);
  const groups = useMemo(() => groupEvents(events, most, about !== undefined), [events, most, about]);
  if (events.length === 0) return <Empty title="Nothing has happened yet" />;
  return (
    <ul className={about === undefined ? 'feed with-subject' : 'feed'}>
      {groups.map((group) => (
        <Line key={group.newest.seq} group={group} about={about} now={now} />
      ))}
    </ul>
  );
}
