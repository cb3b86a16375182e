import { describe, expect, it } from 'vitest';
import { rebuildHistory, thinOut } from '../src/lib/history';
import { event, t0 } from './builders';

const gpus = (count: number) => [{ gpus: Array.from({ length: count }, (_, i) => i) }];
const present = { now: t0 + 100_000, gpusUsed: 4, waiting: 1 };

describe('rebuildHistory', () => {
  it('walks back from the present', () => {
    const events = [
      event('attempt_placed', 'job/2', 60, { job: 2, attempt: 1, placement: gpus(4) }),
      event('attempt_ended', 'job/1', 50, { job: 1, attempt: 1, outcome: 'suspended', lost_gpu_seconds: 30 }),
      event('attempt_suspending', 'job/1', 40, { job: 1, attempt: 1 }),
      event('attempt_placed', 'job/1', 10, { job: 1, attempt: 1, placement: gpus(8) }),
    ];
    const history = rebuildHistory(events, present);
    const used = history.samples.map((sample) => [Math.round(sample.time - t0 / 1000), sample.gpusUsed, sample.waiting]);
    expect(used).toEqual([
      [10, 0, 2], [10, 8, 1], [40, 8, 1], [40, 8, 1], [50, 8, 1], [50, 0, 2], [60, 0, 2], [60, 4, 1], [100, 4, 1],
    ]);
    expect(history).toMatchObject({ suspensions: 1, lostGpuSeconds: 30 });
  });

  it('begins after the end of an attempt of unknown size', () => {
    const events = [
      event('job_submitted', 'job/3', 60, { job: 3 }),
      event('attempt_ended', 'job/1', 50, { job: 1, attempt: 1, outcome: 'succeeded' }),
      event('job_submitted', 'job/2', 40, { job: 2 }),
    ];
    expect(rebuildHistory(events, present).samples).toHaveLength(3);
    expect(rebuildHistory(events, present, () => 8).samples).toHaveLength(7);
  });
});

it('keeps the last sample of each stretch', () => {
  const samples = Array.from({ length: 1000 }, (_, i) => ({ time: i, gpusUsed: i, waiting: 0 }));
  const thin = thinOut(samples, 10);
  expect(thin.length).toBeLessThanOrEqual(11);
  expect(thin.at(-1)).toEqual(samples.at(-1));
});
