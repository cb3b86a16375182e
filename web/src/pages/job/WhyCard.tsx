import { Link } from 'wouter';
import { useQueuePlace, useReasons, useWhy } from '../../api/queries';
import type { Job, QueueEntry, Why } from '../../api/types';
import { useLostSince } from '../../api/useLostSince';
import { Coded } from '../../components/Coded';
import { Panel } from '../../components/Panel';
import { Await } from '../../components/states';
import { formatAgo, formatCount, formatDuration, formatTime, formatWord, secondsBetween } from '../../lib/format';
import { adviceFor, aheadOf, withoutLost } from '../../lib/queue';
import { useNow } from '../../lib/useNow';

export function WhyCard({ job }: { job: Job }) {
  const reasons = useReasons(String(job.id));
  const why = useWhy(String(job.id), true);
  const known = useQueuePlace(job).data;
  const lost = useLostSince(known?.foreseenAt ?? null);
  const place = known && { ...known, entry: known.entry && withoutLost([known.entry], lost)[0]! };
  return (
    <Panel title="Why it waits" aside={job.pending_reason && formatWord(job.pending_reason.code)}>
      <Await answer={why.data || reasons.error ? why : reasons} lines={3}>
        {(answer) => <Answer why={why.data ? answer : foreseen(answer, place)} estimating={why.data || place?.entry?.start_p50 ? null : (why.error?.message ?? 'being worked out…')} />}
      </Await>
      {place?.entry && <Place entry={place.entry} />}
    </Panel>
  );
}

// What the look ahead over the whole queue has found, until the estimate for the job alone is here.
function foreseen(reasons: Why, place: ReturnType<typeof useQueuePlace>['data']): Why {
  if (!place?.entry?.start_p50) return reasons;
  const { start_p50, start_p90 } = place.entry;
  return { ...reasons, start_p50, start_p90, estimate_note: `foreseen for the whole queue at ${formatTime(place.foreseenAt, Date.now())}; for this job alone it is being worked out…` };
}

function Place({ entry }: { entry: QueueEntry }) {
  const ahead = aheadOf(entry);
  const advice = adviceFor(entry);
  return (
    <dl className="facts" style={{ marginTop: 'var(--s3)' }}>
      {entry.position !== null && (
        <>
          <dt>place</dt>
          <dd>
            <span className="links"><Link href={`/queue?group=${encodeURIComponent(entry.group)}`}>{formatCount(entry.position)} in the queue of {entry.group}</Link></span>
            {ahead.length > 0 && `; ahead: ${ahead.join(', ')}`}
          </dd>
        </>
      )}
      {advice !== '' && (
        <>
          <dt>to do</dt>
          <dd>{advice}</dd>
        </>
      )}
    </dl>
  );
}

// It never starts itself, so nothing stands in its way.
const isArray = ({ facts }: Why): boolean => facts.every(({ code, holders }) => code === 'array' && holders.length === 0);

// `estimating`: what becomes of the estimate that is not there yet.
export function Answer({ why, estimating = null }: { why: Why; estimating?: string | null }) {
  const now = useNow();
  return (
    <div className="stack">
      {why.pending_reason && <p><Coded text={why.pending_reason.text} /></p>}
      {why.facts.length > 0 && (
        <div>
          {!isArray(why) && (
            <p className="dim" style={{ fontSize: 'var(--text-s)' }}>
              It could start now without {why.facts.length === 1 ? 'this' : `these ${why.facts.length}`}:
            </p>
          )}
          <ol className="stack" style={{ gap: 'var(--s1)', marginTop: 'var(--s1)' }}>
            {why.facts.map((fact, i) => (
              <li key={i} className="note" style={{ color: 'var(--ink)' }}>
                <Coded text={fact.text} /> <Holders holders={fact.holders} />
              </li>
            ))}
          </ol>
        </div>
      )}
      {estimating === null ? <Estimate why={why} now={now} /> : <p className="note">When it starts: {estimating}</p>}
    </div>
  );
}

function Holders({ holders }: { holders: string[] }) {
  const shown = holders.slice(0, 6);
  return (
    <>
      {shown.map((holder) => {
        const [kind, name = ''] = holder.split('/');
        const href = kind === 'job' ? `/jobs/${name}` : kind === 'node' ? `/nodes/${name}` : `/jobs?user=${name}`;
        return (
          <Link key={holder} href={href} className="tag" style={{ marginRight: 4 }}>
            {kind} {name}
          </Link>
        );
      })}
      {holders.length > shown.length && <span className="dim">and {holders.length - shown.length} more</span>}
    </>
  );
}

function Estimate({ why, now }: { why: Why; now: number }) {
  if (!why.start_p50) return why.estimate_note ? <p className="note">No estimate: {why.estimate_note}</p> : null;
  const wait = secondsBetween(new Date(now).toISOString(), why.start_p50);
  return (
    <div>
      <div className="row" style={{ alignItems: 'baseline' }}>
        <b style={{ fontSize: 'var(--text-xl)', fontWeight: 600 }}>{wait <= 1 ? 'now' : `in ${formatDuration(wait)}`}</b>
        <span className="dim">even odds, {formatTime(why.start_p50, now)}</span>
      </div>
      {why.start_p90 && (
        <div className="dim" style={{ fontSize: 'var(--text-s)' }}>
          nine in ten by {formatTime(why.start_p90, now)} ({formatAgo(why.start_p90, now)})
        </div>
      )}
      {why.estimate_note && (
        <p className="dim" style={{ fontSize: 'var(--text-s)' }}>
          {why.estimate_note}
        </p>
      )}
    </div>
  );
}
