import type { JobUsage } from '../api/types';

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
