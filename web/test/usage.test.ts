import { expect, it } from 'vitest';
import type { JobUsage } from '../src/api/types';
import { slowRanks, stepSeconds, stepTimesOf } from '../src/lib/usage';

const times = [0, 10, 20, 30, 40].map((second) => 1_000 * second);

it('says of each look how long a step took since the rank last came further', () => {
  expect(stepSeconds([0, 5, 10, 30, 40], times)).toEqual([null, 2, 2, 0.5, 1]);
  expect(stepSeconds([null, 5, 5, null, 10], times)).toEqual([null, null, null, null, 6]);
  expect(stepSeconds([20, 30, 4, 9, 9], times)).toEqual([null, 1, null, 2, null]); // begun anew from a checkpoint
});

const usage = (steps: (number | null)[][]): JobUsage => ({
  ranks: steps.map((step, rank) => ({ rank, node: `n${rank}`, gpu_percent: [], gpu_memory_percent: [], step })), rank_count: steps.length, attempt: 1, attempts: [1], at: times.map((at) => new Date(at).toISOString()), stragglers: [], step_seconds: null, metrics: [],
});
const even = [0, 10, 20, 30, 40];

it('puts the slowest rank first, and names those that are clearly slower than the middle one', () => {
  const all = stepTimesOf(usage([even, even, [0, 5, 10, 15, 20], even, [null, null, null, null, null]]));
  expect(all.map(({ rank, middle }) => [rank, middle])).toEqual([[2, 2], [0, 1], [1, 1], [3, 1]]);
  expect(slowRanks(all).map(({ rank, node }) => [rank, node])).toEqual([[2, 'n2']]);
  expect(slowRanks(all.slice(0, 2))).toEqual([]); // of two nobody knows which is the usual one
});
