import { expect, it } from 'vitest';
import { adviceFor, aheadOf, blockTitle, freeAfter, noStart, queueQuery, readQueueFilter, stackBlocks, startParts, startsOf, startsTitle, suitableHorizon, withoutLost } from '../src/lib/queue';
import type { QueueBlock, QueueEntry } from '../src/api/types';

const now = Date.parse('2026-11-24T00:00:00Z');
const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
const block = (part: Partial<QueueBlock>): QueueBlock => ({ kind: 'running', group: 'g', nodes: 1, id: 1, name: 'j', user: 'ann', jobs: 1, end_p50: at(1), end_p90: at(2), from: null, ...part });
const entry = (part: Partial<QueueEntry>): QueueEntry => ({
  id: 1, name: 'j', user: 'ann', group: 'g', priority: 'low', state: 'queued', held: false, node_count: 1, gpus_per_node: 0, pending_reason: { code: 'resources', text: '' }, waiting_since: at(-1),
  position: 1, ahead: { by_priority: 0, by_class: 0, by_usage: 0, by_age: 0 }, feedback_class: 0, start_p50: null, start_p90: null, nodes_held: 0, ...part,
});

it('stacks what nobody gives back at the bottom and what is free soonest on top', () => {
  const blocks = [block({ id: 1, nodes: 3, end_p50: at(1) }), block({ id: 2, nodes: 2, end_p50: at(9) }), block({ kind: 'closed', id: null, nodes: 1, end_p50: null, end_p90: null }), block({ kind: 'closed', id: null, nodes: 5, end_p50: null, end_p90: null, from: at(3) })];
  const { bands, used } = stackBlocks(blocks, now);
  expect(bands.map((band) => [band.block.id, band.from])).toEqual([[null, 0], [2, 1], [1, 3]]);
  expect(used).toBe(6);
  expect([0, 1, 9, 99].map((hours) => freeAfter(bands, 10, hours))).toEqual([4, 7, 9, 9]);
});

it('chooses the shortest axis on which most of what is expected lies', () => {
  expect(suitableHorizon([entry({ start_p50: at(1) }), entry({ start_p50: at(11) })], [], now)).toBe(12);
  expect(suitableHorizon([entry({})], [], now)).toBe(24);
  expect(suitableHorizon([], [block({ end_p50: at(200) })], now)).toBe(336);
});

it('names the rules by which others are ahead', () => {
  expect(aheadOf(entry({ ahead: { by_priority: 1_200, by_class: 0, by_usage: 2, by_age: 0 } }))).toEqual(['1,200 with a higher priority', '2 of people who used less of late']);
  expect(aheadOf(entry({ ahead: { by_priority: 0, by_class: 1, by_usage: 0, by_age: 1 } }))).toEqual(['1 that had less GPU time or waits longer', '1 that was there before']);
  expect(aheadOf(entry({}))).toEqual([]);
  expect(aheadOf(entry({ position: null, ahead: null }))).toEqual([]);
});

it('has advice for whatever a person can change', () => {
  const advice = (code: QueueEntry['pending_reason']['code']): string => adviceFor(entry({ pending_reason: { code, text: '' } }));
  expect(advice('held')).toContain('Release');
  expect(advice('quota')).toContain('quota');
  expect(advice('dependency_failed')).toContain('failed');
  expect(advice('not_considered')).toBe('');
});

it('keeps the filter in the address and leaves out what is empty', () => {
  const filter = { user: 'ann', team: '', group: 'a b', priority: 'low' };
  expect(readQueueFilter(queueQuery(filter))).toEqual(filter);
  expect(queueQuery({ user: '', team: '', group: '', priority: '' })).toBe('');
});

it('says whose nodes a block is', () => {
  expect(blockTitle(block({ nodes: 4 }))).toBe('job 1 j of ann runs, 4 nodes');
  expect(blockTitle(block({ id: null, jobs: 12, nodes: 1.5 }))).toBe('12 other jobs, 1.5 nodes');
  expect(blockTitle(block({ kind: 'closed', id: null, nodes: 2 }))).toBe('2 nodes closed or not up');
});

it('says of a block of which nothing is heard that nobody knows', () => {
  expect(blockTitle(block({ nodes: 4 }), true)).toBe('job 1 j of ann, 4 nodes: nothing is heard of some, and whether it runs there is not known');
});

it('drops what was foreseen before nodes were lost, and says why there is no start', () => {
  const foreseen = entry({ start_p50: at(1), start_p90: at(2) });
  expect(withoutLost([foreseen], [])).toEqual([foreseen]);
  expect(withoutLost([foreseen], ['n1'])).toEqual([entry({})]);
  expect(noStart(foreseen, true, ['n1', 'n2'])).toBe('not known: foreseen before n[1-2] fell silent');
  expect(noStart(entry({}), false, [])).toBe('being worked out');
  expect(noStart(entry({}), true, [])).toBe('beyond what can be foreseen');
  expect(noStart(entry({ position: null }), true, [])).toBe('not before that changes');
});

it('lays what waits where it is expected to start, with its nodes', () => {
  const waiting = [
    entry({ id: 1, node_count: 4, start_p50: at(0.1) }), entry({ id: 2, node_count: 2, start_p50: at(0.5) }), entry({ id: 3, node_count: 8, start_p50: at(23.9) }),
    entry({ id: 4, start_p50: at(24) }), entry({ id: 5, start_p50: null }), entry({ id: 6, group: 'other', start_p50: at(1) }), entry({ id: 7, start_p50: at(-1) }),
  ];
  const parts = startsOf(waiting, 'g', 24, now);
  expect(parts).toHaveLength(startParts);
  expect(parts.map((part) => part.jobs.map((job) => job.id)).filter((ids) => ids.length > 0)).toEqual([[1, 2, 7], [3]]);
  expect([parts[0]!.nodes, parts[startParts - 1]!.nodes]).toEqual([7, 8]);
  expect(startsTitle(parts[0]!)).toBe('3 jobs with 7 nodes expected to start, even odds: 1 j of ann, 2 j of ann, 7 j of ann');
});
