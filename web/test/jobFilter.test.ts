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
      states: ['failed', 'stopped'], user: 'ann b', group: 'dev', tag: 'a&b', reason: 'quota', text: 'x=1', sort: 'node_count',
      descending: false, groupBy: 'user',
    };
    expect(parseJobFilter(formatJobFilter(filter))).toEqual(filter);
  });

  it('knows all states at once', () => {
    expect(parseJobFilter('state=all').states).toEqual([]);
    expect(formatJobFilter({ ...defaultFilter, states: [] })).toBe('state=all');
  });

  it('ignores words that do not exist', () => {
    expect(parseJobFilter('state=asleep&sort=colour&by=moon')).toEqual(defaultFilter);
  });
});

it('asks the server only what the server can answer', () => {
  expect(serverQuery({ ...defaultFilter, user: 'ann', text: 'x', reason: 'quota' })).toBe(
    'state=queued&state=running&state=suspended&user=ann',
  );
  expect(serverQuery({ ...defaultFilter, states: [] })).toBe('finished=true');
});

it('matches as the server does', () => {
  expect(matchesServerFilter(job({ state: 'failed' }), defaultFilter)).toBe(false);
  expect(matchesServerFilter(job({ tags: ['a'] }), { ...defaultFilter, tag: 'a' })).toBe(true);
  expect(matchesServerFilter(job(), { ...defaultFilter, user: 'ben' })).toBe(false);
});
