import { describe, expect, it } from 'vitest';
import { defaultFilter, formatJobFilter, type JobFilter, matchesServerFilter, parseJobFilter, serverQuery } from '../src/lib/jobFilter';
import { job } from './builders';

describe('the filter in the address', () => {
  it('is empty for the default', () => {
    expect(formatJobFilter(defaultFilter)).toBe('');
    expect(parseJobFilter('')).toEqual(defaultFilter);
  });

  it('comes back as it was', () => {
    const filter: JobFilter = {
      states: ['failed', 'stopped'], user: 'ann b', group: 'dev', priority: 'very_high', tag: 'a&b', reason: 'quota', array: '17', text: 'x=1', sort: 'node_count',
      descending: false, groupBy: 'user',
    };
    expect(parseJobFilter(formatJobFilter(filter))).toEqual(filter);
  });

  it('knows all states at once', () => {
    expect(parseJobFilter('state=all').states).toEqual([]);
    expect(formatJobFilter({ ...defaultFilter, states: [] })).toBe('state=all');
  });

  it('ignores words that do not exist', () => {
    expect(parseJobFilter('state=asleep&sort=colour&by=moon&reason=boredom&priority=whim')).toEqual(defaultFilter);
  });
});

it('asks the server only what the server can answer', () => {
  expect(serverQuery({ ...defaultFilter, user: 'ann', text: 'x', reason: 'quota' })).toBe(
    'state=queued&state=running&state=suspended&user=ann&reason=quota&tasks=true&q=x',
  );
  expect(serverQuery({ ...defaultFilter, states: ['queued'], sort: 'priority' })).toBe('state=queued&sort=-priority');
  expect(serverQuery({ ...defaultFilter, states: ['queued'], sort: 'suspend_count' })).toBe('state=queued');
  expect(serverQuery({ ...defaultFilter, states: ['failed'], sort: 'name' })).toBe('state=failed');
  expect(serverQuery({ ...defaultFilter, states: [] })).toBe('finished=true');
});

it('matches as the server does', () => {
  expect(matchesServerFilter(job({ state: 'failed' }), defaultFilter)).toBe(false);
  expect(matchesServerFilter(job({ tags: ['a'] }), { ...defaultFilter, tag: 'a' })).toBe(true);
  expect(matchesServerFilter(job(), { ...defaultFilter, user: 'ben' })).toBe(false);
  expect(matchesServerFilter(job({ tags: ['Night'] }), { ...defaultFilter, text: 'nig' })).toBe(true);
  expect(matchesServerFilter(job({ id: 12 }), { ...defaultFilter, text: '1' })).toBe(true);
  expect(matchesServerFilter(job({ id: 12, name: 'b' }), { ...defaultFilter, text: '1' })).toBe(false);
  expect(matchesServerFilter(job(), { ...defaultFilter, reason: 'quota' })).toBe(false);
});

it('shows an array as one line, or its tasks', () => {
  const task = job({ array_task: { array: 17, index: 3 } });
  const ofArray = parseJobFilter('array=17');
  expect(matchesServerFilter(task, defaultFilter)).toBe(false);
  expect(matchesServerFilter(task, ofArray)).toBe(true);
  expect(matchesServerFilter(task, parseJobFilter('array=18'))).toBe(false);
  expect(matchesServerFilter(job(), ofArray)).toBe(false);
  expect(serverQuery(ofArray)).toContain('array=17');
  expect(parseJobFilter('array=x').array).toBe('');
});

it('shows tasks where only what runs is asked for, or a reason that tasks have, for which the array stands not', () => {
  const task = job({ state: 'running', array_task: { array: 17, index: 3 } });
  for (const search of ['state=running', 'state=running&user=ann', 'state=running&state=suspended', 'state=queued&state=suspended&reason=resources']) {
    expect(serverQuery(parseJobFilter(search)), search).toContain('tasks=true');
  }
  for (const search of ['', 'state=queued', 'state=all', 'state=failed', 'reason=array', 'state=running&array=17']) {
    expect(serverQuery(parseJobFilter(search)), search).not.toContain('tasks=');
  }
  expect(matchesServerFilter(task, parseJobFilter('state=running'))).toBe(true);
  expect(matchesServerFilter(task, parseJobFilter('state=suspended'))).toBe(false);
  expect(matchesServerFilter(job({ state: 'running' }), parseJobFilter('state=running'))).toBe(true);
});
