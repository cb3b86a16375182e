import type { ClusterEvent } from '../api/types';

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

export const hourSeconds = 3_600;

// Attempts that failed or were lost since then, in seconds; newest event first. Not whole: the events do
// not reach back so far.
export function countFailures(events: readonly ClusterEvent[], since: number): { count: number; isWhole: boolean } {
  const reach = events.findIndex((event) => Date.parse(event.time) / 1000 < since);
  const late = reach < 0 ? events : events.slice(0, reach);
  const isFailure = (event: ClusterEvent): boolean => event.kind === 'attempt_ended' && ['failed', 'lost'].includes(String(event.body.outcome));
  return { count: late.filter(isFailure).length, isWhole: reach >= 0 || events.length < eventsOfOnePage };
}
// A shorter list is all that ever happened.
const eventsOfOnePage = 1_000;
