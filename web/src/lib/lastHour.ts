import type { Series } from '../api/types';
import { formatCount } from './format';

// How the GPUs' use has changed since the window began, in words; null = too little is known. Pure.
const kinds = [
  ['gpus_used', 'used'],
  ['gpus_free', 'idle'],
  ['gpus_draining', 'closed'],
  ['gpus_broken', 'broken or silent'],
] as const;

export interface LastHour {
  since: string; // of the first sample
  changes: string[]; // empty = as then
}

export function lastHourOf(series: Pick<Series, 'at' | (typeof kinds)[number][0]>): LastHour | null {
  if (series.at.length < 2) return null;
  const changes = kinds.flatMap(([key, word]) => {
    const change = Math.round(series[key].at(-1)! - series[key][0]!);
    return change === 0 ? [] : [`${formatCount(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} ${word}`];
  });
  return { since: series.at[0]!, changes };
}
