import { expect, it } from 'vitest';
import { buildTimeline } from '../src/lib/timeline';
import { at, attempt, event, job, t0 } from './builders';

it('tells a life of waiting, running, suspending and waiting again', () => {
  const segments = buildTimeline(
    job({ state: 'suspended', pending_reason: { code: 'resources', text: 'needs 2' } }),
    [attempt({ state: 'suspended', placed_at: at(10), running_at: at(12), ended_at: at(50), end_reason: 'made room' })],
    [event('attempt_suspending', 'job/1', 45, { attempt: 1, reason: 'for job 9' })],
    t0 + 70_000,
  );
  expect(segments.map(({ phase, from, to, reason }) => [phase, (from - t0) / 1000, (to - t0) / 1000, reason])).toEqual([
    ['queued', 0, 10, ''],
    ['starting', 10, 12, ''],
    ['running', 12, 45, ''],
    ['suspending', 45, 50, 'for job 9'],
    ['suspended', 50, 70, 'needs 2'],
  ]);
});

it('shows an attempt that never ran', () => {
  const segments = buildTimeline(
    job({ state: 'failed' }),
    [attempt({ running_at: null, ended_at: at(3), end_reason: 'no such program' })],
    [],
    t0 + 9_000,
  );
  expect(segments).toEqual([{ phase: 'starting', from: t0, to: t0 + 3_000, attempt: 1, reason: 'no such program' }]);
});

it('says between two attempts why the first one ended', () => {
  const segments = buildTimeline(
    job({ state: 'running' }),
    [
      attempt({ attempt: 2, placed_at: at(60), running_at: at(61), ended_at: null }),
      attempt({ state: 'suspended', placed_at: at(0), running_at: at(2), ended_at: at(50), end_reason: 'made room for job 9' }),
    ],
    [],
    t0 + 70_000,
  );
  expect(segments.filter(({ phase }) => phase === 'suspended').map(({ reason }) => reason)).toEqual(['made room for job 9']);
});
