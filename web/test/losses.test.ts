import { expect, it } from 'vitest';
import { countFailures, countLosses } from '../src/lib/losses';
import { event, t0 } from './builders';

it('adds up suspensions and lost work since the oldest event', () => {
  const events = [
    event('attempt_ended', 'job/1', 90, { lost_gpu_seconds: 40, outcome: 'lost' }),
    event('attempt_ended', 'job/3', 80, { outcome: 'succeeded' }),
    event('attempt_ended', 'job/4', 70, { lost_gpu_seconds: 2, outcome: 'suspended' }),
    event('attempt_suspending', 'job/2', 60),
    event('attempt_ended', 'job/2', 30, {}),
  ];
  expect(countLosses(events)).toEqual({
    since: t0 / 1000 + 30,
    suspensions: 1,
    gpuSeconds: 42,
    byOutcome: [
      { outcome: 'suspended', attempts: 1, gpuSeconds: 2 },
      { outcome: 'lost', attempts: 1, gpuSeconds: 40 },
    ],
  });
});

it('knows nothing without events', () => expect(countLosses([])).toBeNull());


it('counts what failed since a moment, and says how far it can see', () => {
  const events = [
    event('attempt_ended', 'job/5', 95, { outcome: 'failed' }),
    event('attempt_ended', 'job/4', 90, { outcome: 'succeeded' }),
    event('attempt_ended', 'job/3', 80, { outcome: 'lost' }),
    event('attempt_ended', 'job/2', 10, { outcome: 'failed' }),
  ];
  expect(countFailures(events, t0 / 1000 + 50)).toEqual({ count: 2, isWhole: true });
  const full = Array.from({ length: 1_000 }, () => event('attempt_ended', 'job/1', 90, { outcome: 'failed' }));
  expect(countFailures(full, t0 / 1000 + 50)).toEqual({ count: 1_000, isWhole: false });
});
