import { expect, it } from 'vitest';
import { countLosses, failuresOf } from '../src/lib/losses';
import { at, event, t0 } from './builders';

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

const hour = 3_600_000;
const now = t0 + 90_000; // t0 is a full hour
const finished = (seconds: number, state: string) => event('job_finished', `job/${seconds}`, seconds, { state });
const requeued = (seconds: number, infrastructure: boolean) => event('job_requeued', 'job/1', seconds, { infrastructure });

it('adds to what the store has counted the events that came since', () => {
  const report = { at: [at(-7_200), at(-3_600), at(0)], failed: [9, 500, 40], faults: [9, 2, 10], counted_to: at(60), kept_from: at(-90 * 86_400) };
  const events = [finished(80, 'failed'), finished(79, 'succeeded'), requeued(70, true), requeued(69, false), finished(60, 'failed')];
  expect(failuresOf(report, events, now)).toEqual({ count: 554, since: t0 - hour, isStored: true, isWhole: true });
  const flood = Array.from({ length: 1_000 }, () => finished(85, 'failed'));
  expect(failuresOf(report, flood, now)).toMatchObject({ count: 1_552, isWhole: false });
  expect(failuresOf({ ...report, kept_from: at(0) }, events, now)).toMatchObject({ count: 52, since: t0 });
});

it('says how far the events reach where the store has counted nothing', () => {
  const events = [finished(80, 'failed'), requeued(70, true), finished(-3_000, 'failed'), finished(-9_000, 'failed')];
  expect(failuresOf(undefined, events, now)).toEqual({ count: 3, since: now - hour, isStored: false, isWhole: true });
  const flood = Array.from({ length: 1_000 }, (_, i) => finished(85 - i / 20, 'failed'));
  expect(failuresOf(undefined, flood, now)).toMatchObject({ count: 1_000, since: t0 + 35_050 });
});
