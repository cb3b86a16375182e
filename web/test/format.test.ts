import { describe, expect, it } from 'vitest';
import { formatAgo, formatBytes, formatDuration, formatEnd, formatHosts, formatNodesAsked, formatPast, formatPercent, formatReading, formatUsed } from '../src/lib/format';
import { at, t0 } from './builders';

describe('formatDuration', () => {
  it.each([
    [0, '0s'], [8, '8s'], [59.6, '1m'], [61, '1m 1s'], [3600, '1h'], [7_500, '2h 5m'], [90_000, '1d 1h'], [-5, '0s'],
  ])('%s seconds are %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));
});

describe('formatPercent', () => {
  it.each([
    [0, 10, '0 %'], [10, 10, '100 %'], [9_999, 10_000, '99.9 %'], [1, 100_000, '0.1 %'], [1, 3, '33.3 %'], [1, 0, '–'],
  ])('%s of %s is %s', (part, whole, text) => expect(formatPercent(part, whole)).toBe(text));
});

describe('formatHosts', () => {
  it('joins runs, keeps leading zeros and sorts', () => {
    expect(formatHosts(['n-03', 'n-01', 'n-02', 'n-09', 'login'])).toBe('n-[01-03,09],login');
    expect(formatHosts(['node-7'])).toBe('node-7');
    expect(formatHosts([])).toBe('');
  });
});

it.each([
  [2, 0, '2 whole nodes'], [1, 0, '1 whole node'], [3, 1, '3 × 1 GPU'], [1, 4, '1 × 4 GPUs'], [2, -1, '2 × no GPUs'],
])('%s nodes with %s GPUs are %s', (nodes, gpus, text) => expect(formatNodesAsked(nodes, gpus)).toBe(text));

it.each([
  [90, 2 ** 30, '1m 30s of CPU time, 1.0 GiB in the largest process'],
  [null, 2 ** 30, 'an unknown amount of CPU time, 1.0 GiB in the largest process'],
  [90, null, '1m 30s of CPU time, nobody knows how much memory'],
  [null, null, 'not known'],
])('of %s s and %s bytes says what is known', (cpu_seconds, peak_memory_bytes, text) => expect(formatUsed({ cpu_seconds, peak_memory_bytes })).toBe(text));

it('tells past and future', () => {
  expect(formatAgo(at(-90), t0)).toBe('1m 30s ago');
  expect(formatAgo(at(30), t0)).toBe('in 30s');
  expect(formatAgo(null, t0)).toBe('–');
});

it('does not say of what has happened that it comes', () => {
  expect(formatPast(at(-90), t0)).toBe('1m 30s ago');
  expect(formatPast(at(2), t0)).toBe('now');
  expect(formatPast(at(90), t0)).toMatch(/^at \d\d:\d\d:\d\d$/);
  expect(formatPast(null, t0)).toBe('–');
});

it('shows bytes in powers of 1024', () => {
  expect(formatBytes(25_276_510_208)).toBe('23.5 GiB');
  expect(formatBytes(512)).toBe('512 B');
});

it('shows a reading, and a dash where there is none', () => {
  expect([formatReading(41.6, '%'), formatReading(0, '%'), formatReading(null, '°C'), formatReading(undefined, '°C')]).toEqual(['42 %', '0 %', '–', '–']);
});

it.each([
  ['rank 3 exited with code 7', 7, 'rank 3 exited with code 7'], // said already
  ['rank 3 ran out of memory', 137, 'rank 3 ran out of memory, exit code 137'],
  ['rank 0 on n1 is lost: its node is down', 0, 'rank 0 on n1 is lost: its node is down'], // no program has ended well there
  [null, null, ''],
])('why something ended, "%s" with code %s, is "%s"', (reason, code, text) => expect(formatEnd(reason, code)).toBe(text));
