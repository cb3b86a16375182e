import { expect, it } from 'vitest';
import type { Row } from '../src/lib/jobRows';
import { withTasks } from '../src/lib/taskRows';
import { job } from './builders';

const array = { range: '0-3', tasks: 4, made: 3, unfinished: 1, succeeded: 2, failed: 0, stopped: 0, to_come: '3' };
const rows: Row[] = [{ kind: 'job', job: job({ id: 9 }) }, { kind: 'job', job: job({ id: 5, array }) }];
const task = (id: number, index: number) => job({ id, array_task: { array: 5, index } });
const shown = (found: Parameters<typeof withTasks>[1]): (number | string)[] =>
  withTasks(rows, found).map((row) => (row.kind === 'job' ? row.job.id : row.kind === 'note' ? row.text : ''));

it('puts the tasks of an opened array below it, and says what is not there', () => {
  expect(shown(new Map())).toEqual([9, 5]);
  const jobs = [task(8, 2), task(7, 1), task(6, 0)];
  expect(shown(new Map([[5, { jobs, isWhole: true, error: '' }]]))).toEqual([9, 5, 6, 7, 8, '1 still to come: a list of its tasks']);
  expect(shown(new Map([[5, { jobs, isWhole: false, error: '' }]])).at(-1)).toBe('and more: all its tasks');
  expect(shown(new Map([[5, { jobs: null, isWhole: false, error: '' }]])).at(-1)).toBe('asking for its tasks…');
  expect(shown(new Map([[5, { jobs: null, isWhole: false, error: 'busy' }]])).at(-1)).toBe('its tasks are not known: busy');
});
