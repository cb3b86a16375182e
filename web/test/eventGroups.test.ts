import { expect, it } from 'vitest';
import { groupEvents, placeOf, spanOf } from '../src/lib/eventGroups';
import type { ClusterEvent } from '../src/api/types';

const start = Date.parse('2026-11-24T03:00:00Z');
const event = (seq: number, subject: string, text: string, seconds = seq): ClusterEvent => ({ seq, subject, text, kind: 'attempt_ended', actor: 'scheduler', time: new Date(start + seconds * 1000).toISOString(), body: {} });
const failed = (seq: number, seconds = seq / 10): ClusterEvent => event(seq, `job/${seq}`, `attempt 1 ended: could not be launched on node-0500`, seconds);

it('makes one line of what hits many jobs within a minute', () => {
  const many = Array.from({ length: 552 }, (_, i) => failed(552 - i));
  const [group, ...others] = groupEvents(many, 12);
  expect(others).toEqual([]);
  expect(group).toMatchObject({ newest: many[0], count: 552, text: 'attempt 1 ended: could not be launched on node-0500' });
  expect(group!.names).toHaveLength(552);
});

it('keeps what differs apart: another node, another kind, another hour', () => {
  const lines = groupEvents([failed(9, 7_000), failed(8, 6_990), failed(7, 6_980), event(6, 'job/6', 'attempt 1 ended: could not be launched on node-0501', 5), failed(3), failed(2), failed(1)], 12);
  expect(lines.map((line) => line.count)).toEqual([3, 1, 3]);
  // What goes on for long is a line a minute.
  const steady = Array.from({ length: 300 }, (_, i) => failed(300 - i, 300 - i));
  expect(groupEvents(steady, 12).map((line) => line.count)).toEqual([61, 61, 61, 61, 56]);
});

it('leaves two of a kind as two lines, and one job that repeats itself', () => {
  expect(groupEvents([failed(2), failed(1)], 12).map((line) => line.count)).toEqual([1, 1]);
  expect(groupEvents([event(3, 'job/1', 'attempt 3 ended'), event(2, 'job/1', 'attempt 2 ended'), event(1, 'job/1', 'attempt 1 ended')], 12).map((line) => line.text)).toEqual(['attempt 3 ended', 'attempt 2 ended', 'attempt 1 ended']);
});

it('writes … where only numbers differ', () => {
  expect(groupEvents([3, 2, 1].map((seq) => event(seq, `job/${seq}`, `attempt ${seq} ended: rank ${seq} exited with code 1`)), 12)[0]!.text).toBe('attempt … ended: rank … exited with code 1');
});

it('says how long ago the first of a group was, and of an old one how long it went on', () => {
  const [group] = groupEvents(Array.from({ length: 10 }, (_, i) => failed(10 - i, 40 - 4 * i)), 12); // from 4 s to 40 s
  expect(spanOf(group!, start + 50_000)).toBe('in the last minute');
  expect(spanOf(group!, start + 65_000)).toBe('in the last 2 minutes');
  expect(spanOf(group!, start + 5 * 3_600_000)).toBe('within 36s');
});

it('leads to where those of a group are seen', () => {
  const about = (subject: string, kind: string, body: Record<string, unknown>) => placeOf(groupEvents([{ ...event(1, subject, 'x'), kind, body }], 12)[0]!);
  expect(about('job/1', 'job_finished', { state: 'failed' })).toBe('/jobs?state=failed');
  expect(about('job/1', 'job_requeued', {})).toBe('/jobs');
  expect(about('node/n1', 'node_liveness_changed', { liveness: 'down' })).toBe('/nodes?liveness=not_up');
  expect(about('quota/ann', 'quota_changed', {})).toBe('');
});

it('makes one line of what one job does again and again, on its own page', () => {
  const again = [4, 3, 2, 1].map((attempt) => event(attempt, 'job/1', `attempt ${attempt} ended as lost`));
  expect(groupEvents(again, 12, true).map(({ count, text }) => [count, text])).toEqual([[4, 'attempt … ended as lost']]);
});
