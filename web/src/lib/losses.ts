import type { ClusterEvent, HistoryReport } from '../api/types';

interface Losses {
  since: number; // seconds
  suspensions: number;
  byOutcome: { outcome: string; attempts: number; gpuSeconds: number }[]; // of those that lost work or were interrupted
  gpuSeconds: number; // of work that has to be done again
}

const interrupted = ['suspended', 'lost', 'failed', 'stopped'];

// What the events tell, and since when they do; null if there are none.
export function countLosses(events: readonly ClusterEvent[]): Losses | null {
  if (events.length === 0) return null;
  const losses: Losses = { since: Number.POSITIVE_INFINITY, suspensions: 0, byOutcome: [], gpuSeconds: 0 };
  const sums = new Map(interrupted.map((outcome) => [outcome, { outcome, attempts: 0, gpuSeconds: 0 }]));
  for (const event of events) {
    losses.since = Math.min(losses.since, Date.parse(event.time) / 1000);
    if (event.kind === 'attempt_suspending') losses.suspensions += 1;
    if (event.kind !== 'attempt_ended') continue;
    const gpuSeconds = Number(event.body.lost_gpu_seconds ?? 0);
    losses.gpuSeconds += gpuSeconds;
    const sum = sums.get(String(event.body.outcome ?? ''));
    if (!sum) continue;
    sum.attempts += 1;
    sum.gpuSeconds += gpuSeconds;
  }
  losses.byOutcome = [...sums.values()].filter((sum) => sum.attempts > 0);
  return losses;
}

export const hourMs = 3_600_000;

// The day up to now, in whole hours, as the store counts.
export const dayUpTo = (now: number): { since: number; until: number } => {
  const hour = Math.floor(now / hourMs) * hourMs;
  return { since: hour - 24 * hourMs, until: hour + hourMs };
};

export interface StoredLosses {
  since: number; // ms; the store may not reach further back
  countedTo: number;
  preemptions: number;
  faults: number;
  failed: number;
  stopped: number;
  gpuSeconds: number; // of work that has to be done again
}

// What the store has counted of the steps of a report; null where it has counted nothing.
export function storedLosses(report: HistoryReport, since: number): StoredLosses | null {
  if (!report.counted_to || !report.kept_from) return null;
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return {
    since: Math.max(since, Date.parse(report.kept_from)), countedTo: Date.parse(report.counted_to), preemptions: sum(report.preemptions), faults: sum(report.faults),
    failed: sum(report.failed), stopped: sum(report.stopped), gpuSeconds: sum(report.lost_gpu_seconds),
  };
}

// What the store counts as failures (docs/operations/history.md), as the events tell it.
export const failureKinds = ['job_finished', 'job_requeued'];
const isFailure = ({ kind, body }: ClusterEvent): boolean =>
  kind === 'job_finished' ? body.state === 'failed' : kind === 'job_requeued' && body.infrastructure !== false;

type Counted = Pick<HistoryReport, 'at' | 'failed' | 'faults' | 'counted_to' | 'kept_from'>;

export interface Failures {
  count: number; // jobs that failed, and requeues by faults of the cluster
  since: number; // ms
  isStored: boolean; // counted by the store; else by the events alone
  isWhole: boolean; // else there are more
}

// Whole hours of which one at least is over: the store counts by the hour.
export const countedSince = (now: number): number => Math.floor(now / hourMs) * hourMs - hourMs;

// What the store has counted, with the events that have come since; where it has counted nothing, the events
// of the last hour, or of as long as they reach. Events: of `failureKinds`, newest first.
export function failuresOf(report: Counted | undefined, events: readonly ClusterEvent[], now: number): Failures {
  const isCut = events.length >= eventsOfOnePage; // a shorter list is all that ever happened
  const oldest = events.length > 0 ? Date.parse(events.at(-1)!.time) : now;
  const later = (from: number): number => events.filter((event) => Date.parse(event.time) > from && isFailure(event)).length;
  if (report?.counted_to && report.kept_from) {
    const [since, countedTo] = [Math.max(countedSince(now), Date.parse(report.kept_from)), Date.parse(report.counted_to)];
    const sum = (counts: readonly number[]): number =>
      counts.reduce((all, count, i) => all + (Date.parse(report.at[i]!) >= since ? count : 0), 0);
    const from = Math.max(countedTo, since - 1);
    return { count: sum(report.failed) + sum(report.faults) + later(from), since, isStored: true, isWhole: !isCut || oldest <= from };
  }
  const since = isCut ? Math.max(oldest, now - hourMs) : now - hourMs;
  return { count: later(since - 1), since, isStored: false, isWhole: true };
}
export const eventsOfOnePage = 1_000;
