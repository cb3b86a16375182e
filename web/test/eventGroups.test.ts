import { expect, it } from 'vitest';
import { groupEvents } from '../src/lib/eventGroups';
import type { ClusterEvent } from '../src/api/types';

const start = Date.parse('2026-11-24T03:00:00Z');
const event = (seq: number, subject: string, text: string, seconds = seq): ClusterEvent => ({ seq, subject, text, kind: 'attempt_ended', actor: 'scheduler', time: new Date(start + seconds * 1000).toISOString(), body: {} });
const failed = (seq: number, seconds = seq / 10): ClusterEvent => event(seq, `job/${seq}`, `attempt 1 ended: could not be launched on node-0500`, seconds);

it('makes one line of what hits many jobs within a minute', () => {
  const many = Array.from({ length: 552 }, (_, i) => failed(552 - i));
  expect(groupEvents(many, 12)).toEqual([{ newest: many[0], count: 552, subjects: 552, text: 'attempt 1 ended: could not be launched on node-0500' }]);
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
