import { describe, expect, it } from 'vitest';
import { defaultFilter } from '../src/lib/jobFilter';
import { groupRows, selectJobs, tally } from '../src/lib/jobRows';
import { job } from './builders';

const ids = (jobs: { id: number }[]): number[] => jobs.map((each) => each.id);
const three = [
  job({ id: 3, name: 'c', priority: 'low', node_count: 4 }),
  job({ id: 2, name: 'b', priority: 'extreme_high', node_count: 4, user: 'ben' }),
  job({ id: 1, name: 'a', priority: 'normal', node_count: 9 }),
];

describe('selectJobs', () => {
  it('sorts by level, not by the alphabet', () => {
    expect(ids(selectJobs(three, { ...defaultFilter, sort: 'priority' }))).toEqual([2, 1, 3]);
  });
  it('breaks ties by id, in the same direction', () => {
    expect(ids(selectJobs(three, { ...defaultFilter, sort: 'node_count', descending: false }))).toEqual([2, 3, 1]);
    expect(ids(selectJobs(three, { ...defaultFilter, sort: 'node_count' }))).toEqual([1, 3, 2]);
  });
  it('finds by name, user and the start of the id', () => {
    expect(ids(selectJobs(three, { ...defaultFilter, text: 'BEN' }))).toEqual([2]);
    expect(ids(selectJobs(three, { ...defaultFilter, text: '3' }))).toEqual([3]);
  });
});

it('groups, largest first, and hides what is closed', () => {
  const rows = groupRows(three, 'user', new Set(['ann']));
  expect(rows).toEqual([
    { kind: 'group', value: 'ann', count: 2, gpus: 0, isOpen: false },
    { kind: 'group', value: 'ben', count: 1, gpus: 0, isOpen: true },
    { kind: 'job', job: three[1] },
  ]);
});

it('sums nodes and GPUs, whole nodes and shares', () => {
  const sums = tally([job({ node_count: 2 }), job({ gpus_per_node: 2, user: 'ben' })], (each) => each.user);
  expect(sums).toEqual([
    { value: 'ann', jobs: 1, nodes: 2, gpus: 16 },
    { value: 'ben', jobs: 1, nodes: 1, gpus: 2 },
  ]);
});
