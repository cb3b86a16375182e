import type { JobUsage } from '../api/types';
import { formatDuration } from './format';

// Lines of the small multiples. Pure.
interface Spark {
  path: string; // in a box of 100 × 30
  last: number | null;
}

const boxWidth = 100;
const boxHeight = 30;

// `top` is what reaches the upper edge; gaps stay gaps.
export function sparkOf(values: readonly (number | null)[], times: readonly number[], top: number): Spark {
  const [begin, end] = [times[0] ?? 0, times.at(-1) ?? 1];
  let path = '';
  values.forEach((value, i) => {
    if (value === null) return;
    const x = end === begin ? boxWidth / 2 : (boxWidth * (times[i]! - begin)) / (end - begin);
    const y = boxHeight * (1 - Math.min(1, top <= 0 ? 0 : value / top));
    path += `${values[i - 1] == null ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    if (values[i - 1] == null && values[i + 1] == null) path += 'h1';
  });
  return { path, last: values.findLast((value) => value !== null) ?? null };
}

// Seconds per step, where a rank came further: since it last did. What went back, as after a restart, begins anew.
export function stepSeconds(steps: readonly (number | null)[], times: readonly number[]): (number | null)[] {
  let last: { step: number; time: number } | null = null;
  return steps.map((step, i) => {
    if (step === null) return null;
    const before = last;
    if (before === null || step !== before.step) last = { step, time: times[i]! };
    return before === null || step <= before.step ? null : (times[i]! - before.time) / 1000 / (step - before.step);
  });
}

export interface StepTimes {
  rank: number;
  node: string;
  seconds: (number | null)[];
  middle: number; // of those, the median
}

const medianOf = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!;

// Of the ranks that report steps, the slowest first.
export function stepTimesOf(usage: JobUsage): StepTimes[] {
  const times = usage.at.map((at) => Date.parse(at));
  return usage.ranks
    .flatMap(({ rank, node, step }) => {
      const seconds = stepSeconds(step, times);
      const known = seconds.filter((each) => each !== null);
      return known.length === 0 ? [] : [{ rank, node, seconds, middle: medianOf(known) }];
    })
    .sort((a, b) => b.middle - a.middle || a.rank - b.rank);
}

const slowFactor = 1.2;

// The ranks that take clearly longer for a step than the middle one does.
export function slowRanks(all: readonly StepTimes[]): StepTimes[] {
  const usual = all.length < 3 ? Infinity : medianOf(all.map((each) => each.middle));
  return all.filter((each) => each.middle > slowFactor * usual);
}

export const hasGpus = (usage: JobUsage): boolean => usage.ranks.some((rank) => rank.gpu_percent.some((value) => value !== null));
export const hasSteps = (usage: JobUsage): boolean => usage.ranks.some((rank) => rank.step.some((value) => value !== null));

export const hasMemory = (usage: JobUsage): boolean => usage.ranks.some((rank) => rank.gpu_memory_percent.some((value) => value !== null));

export function meanPercent(usage: JobUsage): number | null {
  const known = usage.ranks.flatMap((rank) => rank.gpu_percent.filter((value) => value !== null));
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
}

export function lastStep(usage: JobUsage): number | null {
  const steps = usage.ranks.flatMap((rank) => rank.step.filter((value) => value !== null));
  return steps.length === 0 ? null : Math.max(...steps);
}

// What the server does not know of the job, in sentences.
export function unknownOf(usage: JobUsage): string[] {
  const parts: string[] = [];
  if (usage.attempt === 0) return ['Nothing is known of how it used its GPUs: the server notes that while an attempt runs and it leads, and forgets the oldest when there are too many.'];
  if (!hasGpus(usage)) parts.push('Its nodes do not tell how busy their GPUs are: that takes NVIDIA\'s driver.');
  if (!hasSteps(usage)) parts.push('Its program reports no steps: hai.report_progress(step) does that.');
  if (usage.metrics.length === 0) parts.push('Its program reports no metrics, such as its loss: hai.report_metrics(loss=0.3) does that.');
  return parts;
}

export const stepTime = (seconds: number): string => (seconds >= 10 ? formatDuration(seconds) : `${seconds.toFixed(seconds >= 1 ? 2 : 3)} s`);
