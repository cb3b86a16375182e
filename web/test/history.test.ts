import { expect, it } from 'vitest';
import { alignStep, dayMs, gapOf, historyQuery, niceTop, onSteps, otherName, otherOf, readHistoryRange, toCsv, totalOf } from '../src/lib/history';
import type { HistoryReport } from '../src/api/types';

const now = Date.parse('2026-11-24T05:20:00Z');

it('reads a range that follows the clock, and one that stays', () => {
  const week = readHistoryRange('days=7', now);
  expect(week).toEqual({ since: Date.parse('2026-11-17T06:00:00Z'), until: Date.parse('2026-11-24T06:00:00Z'), step: '1h', beside: null });
  expect(readHistoryRange('days=90', now).step).toBe('1d');
  const fixed = { since: Date.parse('2026-10-01T00:00:00Z'), until: Date.parse('2026-10-15T00:00:00Z'), step: '1d', beside: 'before' } as const;
  expect(readHistoryRange(historyQuery(fixed), now)).toEqual(fixed);
  expect(otherOf(fixed).since).toBe(Date.parse('2026-09-17T00:00:00Z'));
});

it('lays any other time of the same length beside a range', () => {
  const chosen = { since: Date.parse('2026-10-12T00:00:00Z'), until: Date.parse('2026-10-19T00:00:00Z'), step: '1h', beside: Date.parse('2026-08-03T00:00:00Z') } as const;
  expect(readHistoryRange(historyQuery(chosen), now)).toEqual(chosen);
  expect(otherOf(chosen)).toMatchObject({ since: chosen.beside, until: Date.parse('2026-08-10T00:00:00Z'), step: '1h' });
  expect(otherName(chosen)).toBe('from 2026-08-03');
  expect(readHistoryRange('days=7&beside=soon', now).beside).toBeNull();
});

it('makes sense of nonsense in the address', () => {
  expect(readHistoryRange('days=-3&step=5m', now).step).toBe('1h');
  expect(readHistoryRange('since=2026-11-24T00:00:00Z&until=2026-11-01T00:00:00Z', now)).toMatchObject({ until: Date.parse('2026-11-01T00:00:00Z'), since: Date.parse('2026-10-25T00:00:00Z') });
  expect(readHistoryRange('days=400&step=1h', now).step).toBe('1d'); // the server refuses so many steps
});

it('begins weeks with Mondays and days with UTC', () => {
  expect(new Date(alignStep(now, '7d')).toISOString()).toBe('2026-11-23T00:00:00.000Z');
  expect(new Date(alignStep(now, '1d')).toISOString()).toBe('2026-11-24T00:00:00.000Z');
});

it('lays a report on the steps of its range, with gaps', () => {
  const report = { step_seconds: 86_400, at: ['2026-11-03T00:00:00Z'], failed: [7] } as unknown as HistoryReport;
  const since = Date.parse('2026-11-02T00:00:00Z');
  const shown = onSteps(report, { since, until: since + 3 * dayMs, step: '1d', beside: null });
  expect(shown.times).toHaveLength(3);
  expect(shown.report.failed).toEqual([null, 7, null]);
});

it('writes a chart for a spreadsheet', () => {
  const csv = toCsv({ key: 'k', title: 't', unit: 's', sum: 'sum', lines: [{ label: 'p50, all', tone: '', values: [1.23456, null] }] }, [now, now + 1]);
  expect(csv).toBe('time,"p50, all (s)"\r\n2026-11-24T05:20:00.000Z,1.235\r\n2026-11-24T05:20:00.001Z,\r\n');
});

it('sums up a range without inventing what is not known', () => {
  expect(totalOf([1, null, 3], 'sum')).toBe(4);
  expect(totalOf([1, null, 3], 'mean')).toBe(2);
  expect(totalOf([null], 'sum')).toBeNull();
  expect(gapOf([null, null, 3, 4])).toBe('in 2 of 4');
  expect(gapOf([1, 2, 3, null])).toBe(''); // the step that has just begun
  expect([0, 7, 12, 99, 240].map((max) => niceTop(max))).toEqual([1, 10, 20, 100, 250]);
  expect([0.4, 50, 5_000, 9_000, 200_000].map((max) => niceTop(max, 's'))).toEqual([1, 60, 7_200, 14_400, 200_000]);
});
