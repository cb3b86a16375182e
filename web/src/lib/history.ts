import type { HistoryReport } from '../api/types';
import { csvOf } from './csv';

// What the history page shows: ranges, series, sums and files. Pure; `now` is an argument.

export const historySteps = ['1h', '1d', '7d'] as const;
export type HistoryStep = (typeof historySteps)[number];
export interface HistoryRange {
  since: number; // ms
  until: number;
  step: HistoryStep;
  beside: number | 'before' | null; // as long a time that begins then, or ends where this one begins
}

const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
const stepMs: Record<HistoryStep, number> = { '1h': hourMs, '1d': dayMs, '7d': 7 * dayMs };
const stepsMax = 2_400;
const hourlyUpTo = 14 * dayMs;

export const presets = [1, 7, 14, 30, 90, 400] as const; // days

const defaultStep = (length: number): HistoryStep => (length <= hourlyUpTo ? '1h' : '1d');

// ?days=7 follows the clock; ?since=…&until=… stays where it is, for a link that shows the same again. ?compare=1 lays the
// time right before beside it, ?beside=… any other.
export function readHistoryRange(search: string, now: number): HistoryRange {
  const query = new URLSearchParams(search);
  const time = (key: string): number => Date.parse(query.get(key) ?? '');
  const days = Number(query.get('days') ?? 7);
  const length = (days > 0 && days <= 3_653 ? days : 7) * dayMs;
  const until = Number.isNaN(time('until')) ? Math.ceil(now / hourMs) * hourMs : time('until');
  const since = Number.isNaN(time('since')) || time('since') >= until ? until - length : time('since');
  const asked = query.get('step') as HistoryStep;
  const fits = historySteps.includes(asked) && (until - since) / stepMs[asked] <= stepsMax;
  return { since, until, step: fits ? asked : defaultStep(until - since), beside: Number.isNaN(time('beside')) ? (query.get('compare') === '1' ? 'before' : null) : time('beside') };
}

export function historyQuery({ since, until, step, beside }: HistoryRange): string {
  const query = new URLSearchParams({ since: new Date(since).toISOString(), until: new Date(until).toISOString(), step });
  if (beside === 'before') query.set('compare', '1');
  else if (beside !== null) query.set('beside', new Date(beside).toISOString());
  return query.toString();
}

export function otherOf({ since, until, step, beside }: HistoryRange): HistoryRange {
  const from = typeof beside === 'number' ? beside : since - (until - since);
  return { since: from, until: from + (until - since), step, beside: null };
}

// What the other time is called beside the first one.
export const otherName = ({ beside }: HistoryRange): string => (typeof beside === 'number' ? `from ${new Date(beside).toISOString().slice(0, 10)}` : 'before');

export interface HistoryLine {
  label: string;
  tone: string; // custom property
  values: (number | null)[];
}
export interface HistoryChart {
  key: string;
  title: string;
  unit: string;
  lines: HistoryLine[];
  sum: 'sum' | 'mean' | 'max' | 'last'; // how a range becomes one number
}

type Lists = HistoryReport;
const over = (part: readonly (number | null)[], whole: readonly (number | null)[], factor: number): (number | null)[] =>
  part.map((value, i) => (value === null || !whole[i] ? null : (factor * value) / whole[i]));

export function chartsOf(report: Lists): HistoryChart[] {
  const seconds = report.total_gpu_seconds;
  const hours = (values: readonly (number | null)[]): (number | null)[] => values.map((value) => (value === null ? null : value / 3600));
  return [
    {
      key: 'utilisation', title: 'GPUs used', unit: '%', sum: 'mean',
      lines: [{ label: 'used', tone: '--gpu-used', values: over(report.used_gpu_seconds, seconds, 100) }],
    },
    {
      key: 'broken', title: 'GPUs broken or closed', unit: '%', sum: 'mean',
      lines: [
        { label: 'broken', tone: '--gpu-broken', values: over(report.broken_gpu_seconds, seconds, 100) },
        { label: 'draining', tone: '--gpu-draining', values: over(report.draining_gpu_seconds, seconds, 100) },
      ],
    },
    {
      key: 'waits', title: 'Waiting time', unit: 's', sum: 'max',
      lines: [
        { label: 'p50', tone: '--queued', values: report.wait_p50_seconds },
        { label: 'p90', tone: '--held', values: report.wait_p90_seconds },
      ],
    },
    {
      key: 'failures', title: 'Failures', unit: '', sum: 'sum',
      lines: [
        { label: 'jobs failed', tone: '--failed', values: report.failed },
        { label: 'requeued by faults', tone: '--lost', values: report.faults },
        { label: 'nodes lost', tone: '--stopped', values: report.nodes_lost },
      ],
    },
    { key: 'preemptions', title: 'Preemptions', unit: '', sum: 'sum', lines: [{ label: 'made room', tone: '--suspended', values: report.preemptions }] },
    {
      key: 'lost', title: 'Lost work', unit: 'GPU-hours', sum: 'sum',
      lines: [{ label: 'lost', tone: '--failed', values: hours(report.lost_gpu_seconds) }],
    },
    {
      key: 'jobs', title: 'Jobs', unit: '', sum: 'sum',
      lines: [
        { label: 'submitted', tone: '--queued', values: report.submitted },
        { label: 'succeeded', tone: '--succeeded', values: report.succeeded },
        { label: 'stopped', tone: '--stopped', values: report.stopped },
      ],
    },
    { key: 'checks', title: 'Failed checks of nodes', unit: '', sum: 'sum', lines: [{ label: 'checks', tone: '--gpu-draining', values: report.checks_failed }] },
  ];
}

// Of how many steps something is known, where that is not all: a sum of them is no sum of the range.
export function gapOf(values: readonly (number | null)[]): string {
  const some = known(values).length;
  return some === 0 || some >= values.length - 1 ? '' : `in ${some} of ${values.length}`;
}

const known = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

// null: nothing is known of the whole range.
export function totalOf(values: readonly (number | null)[], how: HistoryChart['sum']): number | null {
  const all = known(values);
  if (all.length === 0) return null;
  if (how === 'max') return Math.max(...all);
  if (how === 'last') return all.at(-1)!;
  const sum = all.reduce((a, b) => a + b, 0);
  return how === 'sum' ? sum : sum / all.length;
}

// Onto the steps of the range, so that gaps show and two ranges lie over each other.
export function onSteps(report: HistoryReport, { since, until, step }: HistoryRange): { times: number[]; report: HistoryReport } {
  const length = stepMs[step];
  const first = alignStep(since, step);
  const times = Array.from({ length: Math.max(0, Math.ceil((until - first) / length)) }, (_, i) => first + i * length);
  const index = new Map(report.at.map((at, i) => [Date.parse(at), i]));
  const spread = (values: readonly (number | null)[]): (number | null)[] => times.map((time) => (index.has(time) ? (values[index.get(time)!] ?? null) : null));
  const lists = Object.entries(report).map(([key, value]) => [key, Array.isArray(value) && key !== 'at' ? spread(value as (number | null)[]) : value]);
  return { times, report: Object.fromEntries(lists) as HistoryReport };
}

// Where the server's steps begin: hours, days of UTC, Mondays.
export function alignStep(time: number, step: HistoryStep): number {
  const monday = 4 * dayMs;
  return Math.floor((time - monday) / stepMs[step]) * stepMs[step] + monday;
}

export function toCsv(chart: HistoryChart, times: readonly number[]): string {
  const unit = chart.unit === '' ? '' : ` (${chart.unit})`;
  return csvOf(times, chart.lines.map(({ label, values }) => ({ label: label + unit, values })));
}

const niceSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400];

// A round number at or above the largest value; of seconds one that is round as a clock has it.
export function niceTop(max: number, unit = ''): number {
  if (max <= 0) return 1;
  const whole = unit === 's' ? niceSeconds.find((each) => each >= max) : undefined;
  if (whole !== undefined) return whole;
  const power = 10 ** Math.floor(Math.log10(max));
  return [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= max)!;
}
