import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { cssColor } from '../lib/css';
import { useTheme } from '../app/theme';
import { formatAxisTime, formatCount, formatTime } from '../lib/format';
import { useZone, type Zone } from '../lib/zone';

export interface Series {
  label: string;
  color: string; // custom property
  values: number[];
  isFilled?: boolean;
}

// Steps, because GPUs are given and taken at moments, not gradually.
export function Chart({ label, times, series, top }: { label: string; times: number[]; series: Series[]; top?: number }) {
  const host = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const zone = useZone();
  const shape = series.map((each) => each.label).join();
  const chart = useRef<uPlot | null>(null);
  const data = useRef<uPlot.AlignedData>([times, ...series.map((each) => each.values)]);
  data.current = [times, ...series.map((each) => each.values)];

  useEffect(() => {
    const element = host.current!;
    const plot = new uPlot({ ...options(element, series, zone, top), hooks: { setCursor: [(at) => tell(at, readout.current)] } }, data.current, element);
    chart.current = plot;
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: element.clientHeight }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
    // The chart is made again only when its form changes; new values go in below.
  }, [shape, theme, top, zone]);

  useEffect(() => chart.current?.setData(data.current), [times, series]);
  const last = series.map((each) => `${each.label} ${formatCount(each.values.at(-1) ?? 0)}`).join(', ');
  return (
    <div className="chart" ref={host} role="img" aria-label={`${label}; now ${last}`}>
      <div className="readout" ref={readout} />
    </div>
  );
}

// What stands under the pointer: the moment, and each line's value.
function tell(plot: uPlot, out: HTMLElement | null): void {
  if (!out) return;
  const at = plot.cursor.idx;
  const time = at === null || at === undefined ? undefined : plot.data[0][at];
  out.textContent =
    time === undefined
      ? ''
      : `${formatTime(new Date(time * 1000).toISOString(), Date.now())} · ${plot.series
          .slice(1)
          .map((each, i) => `${each.label} ${formatCount(plot.data[i + 1]![at!] ?? 0)}`)
          .join(', ')}`;
}

function options(element: HTMLElement, series: Series[], zone: Zone, top?: number): uPlot.Options {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const font = `${0.78 * rem}px 'Geist Variable', sans-serif`;
  const axis = { stroke: cssColor('--ink-3'), font, ticks: { show: false }, grid: { stroke: cssColor('--line'), width: 1 } };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 2.2 * rem, 0, 0],
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    // Where days begin.
    ...(zone === 'utc' ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC') } : {}),
    scales: { y: { range: (_, __, max) => [0, Math.max(1, top ?? 0, max * 1.08)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 1.9 * rem, space: 4.5 * rem, values: (_, splits) => splits.map((at) => formatAxisTime(at, splits)) },
      { ...axis, size: 3.4 * rem, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 2500, 5000, 10000, 50000, 100000] },
    ],
    series: [
      {},
      ...series.map((each): uPlot.Series => {
        const color = cssColor(each.color);
        const steps = uPlot.paths.stepped?.({ align: 1 });
        return {
          label: each.label,
          stroke: color,
          width: 1.6,
          points: { show: false },
          ...(steps ? { paths: steps } : {}),
          ...(each.isFilled ? { fill: color.replace('rgb(', 'rgba(').replace(')', ', 0.16)') } : {}),
        };
      }),
    ],
  };
}
