import { Link } from 'wouter';
import { useReasons, useWhy } from '../../api/queries';
import type { Job, Why } from '../../api/types';
import { Panel } from '../../components/Panel';
import { Await } from '../../components/states';
import { formatAgo, formatDuration, formatTime, formatWord, secondsBetween } from '../../lib/format';
import { useNow } from '../../lib/useNow';

export function WhyCard({ job }: { job: Job }) {
  const reasons = useReasons(String(job.id));
  const why = useWhy(String(job.id), true);
  return (
    <Panel title="Why it waits" aside={job.pending_reason && formatWord(job.pending_reason.code)}>
      <Await answer={why.data || reasons.error ? why : reasons} lines={3}>
        {(answer) => <Answer why={answer} estimating={why.data ? null : (why.error?.message ?? 'being worked out…')} />}
      </Await>
    </Panel>
  );
}

// `estimating`: what becomes of the estimate that is not there yet.
export function Answer({ why, estimating = null }: { why: Why; estimating?: string | null }) {
  const now = useNow();
  return (
    <div className="stack">
      {why.pending_reason && <p>{why.pending_reason.text}</p>}
      {why.facts.length > 0 && (
        <div>
          <p className="dim" style={{ fontSize: 'var(--text-s)' }}>
            It could start now without {why.facts.length === 1 ? 'this' : `these ${why.facts.length}`}:
          </p>
          <ol className="stack" style={{ gap: 'var(--s1)', marginTop: 'var(--s1)' }}>
            {why.facts.map((fact, i) => (
              <li key={i} className="note" style={{ color: 'var(--ink)' }}>
                <bdi>{fact.text}</bdi> <Holders holders={fact.holders} />
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
