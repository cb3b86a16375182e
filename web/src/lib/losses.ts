import type { ClusterEvent } from '../api/types';

export interface Losses {
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
