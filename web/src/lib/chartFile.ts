import { formatAxisTime, formatCount } from './format';
import { niceTop } from './history';

// Charts as the text of an SVG, for those that the page does not draw as one: with its colours as custom properties, which
// saveChart.ts writes out. Pure but for multiplesSvg, which reads what is drawn.

export interface FileLine {
  label: string;
  color: string; // custom property
  values: readonly (number | null)[];
}

interface LinesFile {
  title: string;
  times: readonly number[]; // milliseconds
  lines: readonly FileLine[];
}

const width = 720;
const height = 240;
const left = 60;
const right = 12;
const top = 44;
const bottom = 24;
const ticks = 6;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const text = (x: number, y: number, content: string, more = ''): string => `<text x="${x}" y="${y}" font-size="11" fill="var(--ink-2)" ${more}>${escaped(content)}</text>`;
const sheet = (w: number, h: number, title: string, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="sans-serif"><rect width="${w}" height="${h}" fill="var(--surface)"/>` +
  `<text x="8" y="17" font-size="13" font-weight="600" fill="var(--ink)">${escaped(title)}</text>${content}</svg>`;

// As the page's charts over time: each value holds until the next; a gap where nothing is known.
export function linesSvg({ title, times, lines }: LinesFile): string {
  const ceiling = niceTop(Math.max(0, ...lines.flatMap((line) => line.values.filter((value) => value !== null))));
  const [begin, end] = [times[0] ?? 0, times.at(-1) ?? 1];
  const x = (time: number): number => Math.round(10 * (left + ((width - left - right) * (time - begin)) / Math.max(1, end - begin))) / 10;
  const y = (value: number): number => Math.round(10 * (top + (height - top - bottom) * (1 - value / ceiling))) / 10;
  const legend = lines.map((line, i) => `<rect x="${8 + 120 * i}" y="26" width="9" height="9" fill="var(${line.color})"/>${text(22 + 120 * i, 34, line.label)}`);
  const rungs = [0, 0.5, 1].map((part) => {
    const at = y(part * ceiling);
    return `<line x1="${left}" x2="${width - right}" y1="${at}" y2="${at}" stroke="var(--line)"/>${text(left - 6, at + 4, formatCount(Math.round(part * ceiling * 100) / 100), 'text-anchor="end"')}`;
  });
  const seconds = times.map((time) => time / 1000);
  const marks = times.length === 0 ? [] : Array.from({ length: ticks }, (_, i) => begin + ((i + 0.5) * (end - begin)) / ticks);
  const axis = marks.map((time) => text(x(time), height - 8, formatAxisTime(time / 1000, seconds), 'text-anchor="middle"'));
  const curves = lines.map((line) => `<path d="${stepsOf(line.values, times.map(x), y)}" fill="none" stroke="var(${line.color})" stroke-width="1.6"/>`);
  return sheet(width, height, title, [...legend, ...rungs, ...axis, ...curves].join(''));
}

function stepsOf(values: readonly (number | null)[], xs: readonly number[], y: (value: number) => number): string {
  let path = '';
  values.forEach((value, i) => {
    if (value === null || value === undefined) return;
    path += values[i - 1] == null ? `M${xs[i]} ${y(value)}` : `H${xs[i]}V${y(value)}`;
    if (values[i - 1] == null && values[i + 1] == null) path += 'h1.5';
  });
  return path;
}

const cellWidth = 200;
const cellHeight = 74;
const columns = 4;

// Small multiples as they stand on the page, each with what is written about it.
export function multiplesSvg(title: string, box: Element): string {
  const cells = [...box.querySelectorAll('.multiple')].map((cell, i) => {
    const [x, y] = [8 + (i % columns) * cellWidth, 28 + Math.floor(i / columns) * cellHeight];
    const [name = '', note = ''] = [...cell.querySelectorAll('b, span')].map((each) => each.textContent ?? '');
    const last = [...cell.querySelectorAll('span')].at(-1)?.textContent ?? '';
    const paths = [...cell.querySelectorAll('path')].map((path) => new XMLSerializer().serializeToString(path)).join('');
    const plot = `<svg x="${x}" y="${y + 16}" width="${cellWidth - 16}" height="34" viewBox="0 0 100 30" preserveAspectRatio="none">${paths}</svg>`;
    return `${text(x, y + 10, `${name} ${note}`)}<rect x="${x}" y="${y + 16}" width="${cellWidth - 16}" height="34" fill="none" stroke="var(--line)"/>${plot}${text(x, y + 62, last)}`;
  });
  return sheet(16 + columns * cellWidth, 34 + Math.max(1, Math.ceil(cells.length / columns)) * cellHeight, title, cells.join(''));
}
