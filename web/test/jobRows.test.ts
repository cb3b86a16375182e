import { describe, expect, it } from 'vitest';
import { defaultFilter } from '../src/lib/jobFilter';
import { foldFailures, groupRows, selectJobs, tally } from '../src/lib/jobRows';
import { at, job } from './builders';

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

describe('foldFailures', () => {
  const gone = (id: number, seconds: number, node = 'n7') => job({ id, state: 'failed', ended_at: at(seconds), exit_code: 1, end_reason: `rank ${id % 4} on ${node} could not start: no image` });
  const storm = Array.from({ length: 552 }, (_, i) => gone(700 - i, 600 - i));

  it('makes one line of many that failed alike, where the first stood, and shows them when it is opened', () => {
    const other = job({ id: 701, state: 'failed', ended_at: at(601), end_reason: 'rank 0 exited with code 1' });
    const rows = foldFailures([other, ...storm, job({ id: 3 })], new Set());
    expect(rows.map((row) => (row.kind === 'job' ? row.job.id : row.kind))).toEqual([701, 'alike', 3]);
    expect(rows[1]).toMatchObject({ cause: 'rank … on n7 could not start: no image', isOpen: false });
    const [, fold] = rows;
    expect(fold).toMatchObject({ kind: 'alike' });
    expect(fold?.kind === 'alike' && fold.jobs).toHaveLength(552);
    const opened = foldFailures([other, ...storm, job({ id: 3 })], new Set(['alike 149']));
    expect(opened).toHaveLength(555);
    expect(opened[2]).toEqual({ kind: 'job', job: storm[0] });
  });

  it('keeps the programs of several users apart, which have nothing in common but their exit code', () => {
    const exited = Array.from({ length: 24 }, (_, i) => ({ ...gone(50 - i, 600 - i), user: i % 2 === 0 ? 'ann' : 'ben', end_reason: `rank ${i} exited with code 1` }));
    const rows = foldFailures(exited, new Set());
    expect(rows.map((row) => (row.kind === 'alike' ? row.jobs.map(({ user }) => user).join('') : row.kind))).toEqual(['ann'.repeat(12), 'ben'.repeat(12)]);
  });

  it('keeps apart what failed at another time or of another cause, and leaves a few as they are', () => {
    expect(foldFailures(storm.slice(0, 9), new Set())).toHaveLength(9);
    const apart = [...Array.from({ length: 10 }, (_, i) => gone(40 - i, 9_000 - i)), ...Array.from({ length: 10 }, (_, i) => gone(20 - i, 100 - i, 'n8')), ...Array.from({ length: 10 }, (_, i) => gone(10 - i, 100 - i))];
    expect(foldFailures(apart, new Set()).map((row) => row.kind)).toEqual(['alike', 'alike', 'alike']);
  });
});
