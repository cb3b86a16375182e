import { expect, it } from 'vitest';
import { lastHourOf } from '../src/lib/lastHour';

const series = (used: number[], broken: number[]) => ({ at: used.map((_, i) => `2026-11-24T0${i}:00:00Z`), gpus_used: used, gpus_broken: broken, gpus_free: used.map(() => 5), gpus_draining: used.map(() => 0) });

it('says what has changed since the window began', () => {
  expect(lastHourOf(series([9_744, 9_700, 9_488], [0, 100, 256]))).toEqual({ since: '2026-11-24T00:00:00Z', changes: ['256 fewer used', '256 more broken or silent'] });
});

it('says so when nothing has, and nothing when too little is known', () => {
  expect(lastHourOf(series([9, 8, 9], [0, 1, 0]))!.changes).toEqual([]);
  expect(lastHourOf(series([9], [0]))).toBeNull();
});
