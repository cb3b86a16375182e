import type { ClusterEvent } from '../api/types';

// The server keeps no series yet, but its event log says when GPUs were given and taken back. Walking
// back from the present gives the past exactly, as far as the loaded events reach.

export interface Sample {
  time: number; // seconds
  gpusUsed: number;
  waiting: number;
}

export interface Present {
  now: number; // milliseconds
  gpusUsed: number;
  waiting: number;
}

export interface History {
  samples: Sample[];
  suspensions: number;
  lostGpuSeconds: number;
}

const attemptKey = (event: ClusterEvent): string => `${event.body.job}/${event.body.attempt}`;

function gpusPlaced(event: ClusterEvent): number {
  const placement = event.body.placement as { gpus?: unknown[] }[] | undefined;
  return (placement ?? []).reduce((sum, rank) => sum + (rank.gpus?.length ?? 0), 0);
}

// The GPUs of a job, if it is known: for attempts placed before the loaded events begin.
export type SizeOfJob = (id: number) => number | undefined;

function sizesOf(newestFirst: readonly ClusterEvent[], sizeOfJob: SizeOfJob): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const event of newestFirst) {
    if (event.kind === 'attempt_placed') sizes.set(attemptKey(event), gpusPlaced(event));
  }
  for (const event of newestFirst) {
    const key = attemptKey(event);
    if (event.kind !== 'attempt_ended' || sizes.has(key)) continue;
    const size = sizeOfJob(Number(event.body.job));
    if (size !== undefined) sizes.set(key, size);
  }
  return sizes;
}

// Before the end of an attempt of unknown size nothing is known for sure: the history begins there.
function firstKnown(newestFirst: readonly ClusterEvent[], sizes: Map<string, number>): number {
  const index = newestFirst.findIndex(
    (event) => event.kind === 'attempt_ended' && !sizes.has(attemptKey(event)),
  );
  return index < 0 ? newestFirst.length : index;
}

// What the event added to the GPUs in use and to the jobs that wait.
function change(event: ClusterEvent, sizes: Map<string, number>): { gpus: number; waiting: number } {
  if (event.kind === 'attempt_placed') return { gpus: gpusPlaced(event), waiting: -1 };
  if (event.kind === 'job_submitted') return { gpus: 0, waiting: 1 };
  if (event.kind === 'attempt_ended') {
    const goesOn = event.body.outcome === 'suspended' || event.body.outcome === 'lost';
    return { gpus: -(sizes.get(attemptKey(event)) ?? 0), waiting: goesOn ? 1 : 0 };
  }
  return { gpus: 0, waiting: 0 };
}

export function rebuildHistory(
  newestFirst: readonly ClusterEvent[],
  present: Present,
  sizeOfJob: SizeOfJob = () => undefined,
): History {
  const sizes = sizesOf(newestFirst, sizeOfJob);
  const known = newestFirst.slice(0, firstKnown(newestFirst, sizes));
  let { gpusUsed, waiting } = present;
  const samples: Sample[] = [{ time: present.now / 1000, gpusUsed, waiting }];
  let suspensions = 0;
  let lostGpuSeconds = 0;
  for (const event of known) {
    const time = Date.parse(event.time) / 1000;
    samples.push({ time, gpusUsed, waiting });
    const { gpus, waiting: waits } = change(event, sizes);
    gpusUsed = Math.max(0, gpusUsed - gpus);
    waiting = Math.max(0, waiting - waits);
    samples.push({ time: time - 0.001, gpusUsed, waiting });
    if (event.kind === 'attempt_suspending') suspensions += 1;
    if (event.kind === 'attempt_ended') lostGpuSeconds += Number(event.body.lost_gpu_seconds ?? 0);
  }
  return { samples: samples.reverse(), suspensions, lostGpuSeconds };
}

// At most `limit` samples, the last of each stretch of time: a chart has no more pixels than that.
export function thinOut(samples: readonly Sample[], limit: number): Sample[] {
  if (samples.length <= limit) return [...samples];
  const first = samples[0]!.time;
  const step = (samples[samples.length - 1]!.time - first) / limit;
  const kept: Sample[] = [];
  for (const sample of samples) {
    const bucket = Math.floor((sample.time - first) / step);
    const last = kept[kept.length - 1];
    if (last && Math.floor((last.time - first) / step) === bucket) kept[kept.length - 1] = sample;
    else kept.push(sample);
  }
  return kept;
}
