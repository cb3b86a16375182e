import { type PointerEvent, useState } from 'react';
import { Panel } from '../../components/Panel';
import { SaveChart } from '../../components/SaveChart';
import { formatCount, formatDuration } from '../../lib/format';
import { dayMs, gapOf, type HistoryChart as Chart, type HistoryLine, type HistoryRange, niceTop, otherName, toCsv, totalOf } from '../../lib/history';
import { useWidth } from '../../lib/useWidth';
import { type Clock, clockOf, zone, zoneLetters } from '../../lib/zone';

const usualWidth = 560;
const height = 160;
const left = 52;
const right = 8;
const bottom = 20;
const top = 8;
const tickWidth = 56;

export function HistoryChart({ chart, times, range, past }: { chart: Chart; times: number[]; range: HistoryRange; past: Chart | null }) {
  const [svg, width] = useWidth<SVGSVGElement>(usualWidth);
  const [at, setAt] = useState<number | null>(null);
  const max = Math.max(0, ...[...chart.lines, ...(past?.lines ?? [])].flatMap((line) => line.values.filter((value) => value !== null)));
  const ceiling = chart.unit === '%' ? Math.min(100, niceTop(max)) : niceTop(max, chart.unit);
  const x = (i: number): number => left + ((width - left - right) * (i + 0.5)) / Math.max(1, times.length);
  const y = (value: number): number => top + (height - top - bottom) * (1 - value / ceiling);
  const other = otherName(range);
  const name = `${chart.key}-${day(range.since)}-${day(range.until)}`;
  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const part = (((event.clientX - box.left) * width) / box.width - left) / (width - left - right);
    setAt(part < 0 || part >= 1 ? null : Math.floor(part * times.length));
  };
  const figures = chart.lines.map((line, i) => ({ ...line, figure: figureOf(line, chart), before: past ? figureOf(past.lines[i]!, chart) : null }));
  const summary = figures.map(({ label, figure, before }) => `${label} ${figure}${before === null ? '' : ` (${other} ${before})`}`).join(', ');
  const axis = { fill: 'var(--ink-3)', fontSize: 11 };
  const curve = (line: HistoryLine) => ({ d: pathOf(line.values.slice(0, times.length), x, y), fill: 'none', stroke: `var(${line.tone})` });
  const isEmpty = max === 0;
  return (
    <Panel
      id={chart.key}
      title={chart.title}
      aside={
        <SaveChart
          name={name}
          title={chart.title}
          csv={() => toCsv(withPast(chart, past, other), times)}
          svg={({ svgText }) => svgText(svg.current!, chart.title)}
        />
      }
    >
      <div className="line-chart" data-chart={chart.key}>
        <p className="legend">
          {figures.map(({ label, tone, figure, before }) => (
            <span key={label}>
              <i style={{ background: `var(${tone})` }} />
              {label} <b>{figure}</b>
              {before !== null && <span className="dim">{other} {before}</span>}
            </span>
          ))}
        </p>
        <svg ref={svg} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${chart.title}: ${summary}`} onPointerMove={point} onPointerLeave={() => setAt(null)}>
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line x1={left} x2={width - right} y1={y(part * ceiling)} y2={y(part * ceiling)} stroke="var(--line)" />
              <text x={left - 6} y={y(part * ceiling) + 4} textAnchor="end" {...axis}>{short(part * ceiling, chart.unit)}</text>
            </g>
          ))}
          {times.length > 0 && <text x={left - 6} y={height - 5} textAnchor="end" {...axis}>{zoneOf(range)}</text>}
          {ticks(times.length, width).map((i) => (
            <text key={i} x={x(i)} y={height - 5} textAnchor="middle" {...axis}>{tickOf(times[i]!, range)}</text>
          ))}
          {past?.lines.map((line) => <path key={`before ${line.label}`} {...curve(line)} strokeWidth={1.2} strokeDasharray="4 3" opacity={0.75} />)}
          {chart.lines.map((line) => <path key={line.label} {...curve(line)} strokeWidth={1.8} />)}
          {at !== null && <line x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} stroke="var(--ink-3)" strokeDasharray="2 2" data-only-screen />}
        </svg>
        <div className="readout">
          {at !== null && times[at] !== undefined
            ? `${stamp(times[at], range)}: ${chart.lines.map((line) => `${line.label} ${line.values[at] == null ? 'not known' : full(line.values[at], chart.unit)}`).join(', ')}`
            : isEmpty ? 'nothing in this time' : ''}
        </div>
      </div>
    </Panel>
  );
}

// A gap where nothing is known.
function pathOf(values: readonly (number | null)[], x: (i: number) => number, y: (value: number) => number): string {
  let path = '';
  values.forEach((value, i) => {
    if (value === null) return;
    const isAlone = values[i - 1] == null && values[i + 1] == null;
    path += `${values[i - 1] == null ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    if (isAlone) path += 'h1.5';
  });
  return path;
}

const withPast = (chart: Chart, past: Chart | null, other: string): Chart => (past ? { ...chart, lines: [...chart.lines, ...past.lines.map((line) => ({ ...line, label: `${line.label} ${other}` }))] } : chart);

function figureOf(line: HistoryLine, chart: Chart): string {
  const total = totalOf(line.values, chart.sum);
  if (total === null) return '–';
  const gap = chart.sum === 'sum' ? gapOf(line.values) : '';
  return `${chart.sum === 'max' ? 'up to ' : ''}${full(total, chart.unit)}${gap === '' ? '' : ` ${gap} steps`}`;
}

const full = (value: number, unit: string): string => (unit === 's' ? formatDuration(value) : `${formatCount(Math.round(value * 10) / 10)}${unit === '' ? '' : ` ${unit}`}`);
const short = (value: number, unit: string): string => (unit === 's' ? formatDuration(value) : value >= 10_000 ? `${formatCount(Math.round(value / 1000))}k` : formatCount(Math.round(value * 100) / 100));

const two = (value: number): string => String(value).padStart(2, '0');
const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
// Hours are of the page's zone. Days and weeks begin where the store's do, with those of UTC, and say so.
const isByHour = ({ step }: HistoryRange): boolean => step === '1h';
const zoneOf = (range: HistoryRange): string => (isByHour(range) ? zoneLetters(zone.get()) : 'UTC');
const clockAt = (time: number, range: HistoryRange): Clock => clockOf(new Date(time), isByHour(range) ? zone.get() : 'utc');
const hourOf = ({ hour, minute }: Clock): string => `${two(hour)}:${two(minute)}`;

function stamp(time: number, range: HistoryRange): string {
  const at = clockAt(time, range);
  return `${at.year}-${two(at.month)}-${two(at.day)}${isByHour(range) ? ` ${hourOf(at)}` : ''} ${zoneOf(range)}`;
}

function tickOf(time: number, range: HistoryRange): string {
  const at = clockAt(time, range);
  return isByHour(range) && range.until - range.since <= 2 * dayMs ? hourOf(at) : `${two(at.month)}-${two(at.day)}`;
}

function ticks(count: number, width: number): number[] {
  const wanted = Math.min(6, Math.floor(width / tickWidth), count);
  return Array.from({ length: wanted }, (_, i) => Math.floor(((i + 0.5) * count) / wanted));
}
