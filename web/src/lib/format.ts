import { type Clock, clockOf } from './zone';

// Numbers and times as people read them. Pure but for the zone of the page: `now` is an argument.

const integer = new Intl.NumberFormat('en-US');
export const formatCount = (value: number): string => integer.format(value);

export function formatPercent(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const percent = (100 * part) / whole;
  // 99.96 % must not read as all of it, nor 0.04 % as nothing.
  if (percent > 99.9 && part < whole) return '99.9 %';
  if (percent < 0.1 && part > 0) return '0.1 %';
  return `${percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : 1)} %`;
}

// Two units at most: 3d 4h, 2h 5m, 12m 3s, 8s.
export function formatDuration(seconds: number): string {
  const total = Math.max(0, Math.round(seconds));
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, size]) => total >= size);
  if (first < 0) return '0s';
  const [letter, size] = units[first]!;
  const head = `${Math.floor(total / size)}${letter}`;
  const next = units[first + 1];
  if (!next) return head;
  const rest = Math.floor((total % size) / next[1]);
  return rest === 0 ? head : `${head} ${rest}${next[0]}`;
}

export const secondsBetween = (from: string, to: string | number): number =>
  ((typeof to === 'number' ? to : Date.parse(to)) - Date.parse(from)) / 1000;

export function formatAgo(time: string | null, now: number): string {
  if (time === null) return '–';
  const seconds = secondsBetween(time, now);
  if (seconds < 0) return `in ${formatDuration(-seconds)}`;
  return seconds < 1 ? 'now' : `${formatDuration(seconds)} ago`;
}

const clockSlackSeconds = 5;

// Of what has happened already. While the shown facts are old, or where a clock is slow, it may be later than `now`: then
// when it was is known, and not how long ago.
export function formatPast(time: string | null, now: number): string {
  const isLater = time !== null && secondsBetween(time, now) < -clockSlackSeconds;
  if (isLater) return `at ${formatTime(time, now)}`;
  return time !== null && secondsBetween(time, now) < 0 ? 'now' : formatAgo(time, now);
}

const two = (value: number): string => String(value).padStart(2, '0');

const dayOf = ({ year, month, day }: Clock): string => `${year}-${two(month)}-${two(day)}`;
const timeOf = ({ hour, minute, second }: Clock): string => `${two(hour)}:${two(minute)}:${two(second)}`;

// In the zone of the page; the date only when it is not today.
export function formatTime(time: string | null, now: number): string {
  if (time === null) return '–';
  const at = clockOf(new Date(time));
  return dayOf(at) === dayOf(clockOf(new Date(now))) ? timeOf(at) : `${dayOf(at)} ${timeOf(at)}`;
}

// Of a line of a log, to the millisecond: 14:52:49.894, and all of it.
export function formatStamp(time: string): string {
  const at = clockOf(new Date(time));
  return `${timeOf(at)}.${String(at.ms).padStart(3, '0')}`;
}
export const formatWholeStamp = (time: string): string => `${dayOf(clockOf(new Date(time)))} ${formatStamp(time)}`;

// Under a chart: minutes within a day, days beyond.
export function formatAxisTime(seconds: number, all: readonly number[]): string {
  const at = clockOf(new Date(seconds * 1000));
  const span = (all[all.length - 1] ?? 0) - (all[0] ?? 0);
  if (span > 2 * 86_400) return `${two(at.month)}-${two(at.day)}`;
  const clock = `${two(at.hour)}:${two(at.minute)}`;
  return span < 240 ? `${clock}:${two(at.second)}` : clock;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function formatGpuHours(gpuSeconds: number): string {
  const hours = gpuSeconds / 3600;
  return hours >= 100 ? formatCount(Math.round(hours)) : hours.toFixed(hours >= 10 ? 1 : 2);
}

// 1 rank, 2 ranks
export const formatPlural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

// What a job asks of its nodes: 0 = all GPUs of each, -1 = none.
export const formatNodesAsked = (nodes: number, gpusPerNode: number): string =>
  gpusPerNode === 0 ? formatPlural(nodes, 'whole node') : `${formatCount(nodes)} × ${gpusPerNode < 0 ? 'no GPUs' : formatPlural(gpusPerNode, 'GPU')}`;

// What the processes of a job have used, as far as anybody measured it.
export function formatUsed({ cpu_seconds, peak_memory_bytes }: { cpu_seconds: number | null; peak_memory_bytes: number | null }): string {
  if (cpu_seconds === null && peak_memory_bytes === null) return 'not known';
  const cpu = cpu_seconds === null ? 'an unknown amount' : formatDuration(cpu_seconds);
  return `${cpu} of CPU time, ${peak_memory_bytes === null ? 'nobody knows how much memory' : `${formatBytes(peak_memory_bytes)} in the largest process`}`;
}

export const formatTimes = (count: number): string =>
  count === 0 ? 'never' : count === 1 ? 'once' : `${formatCount(count)} times`;

// above_normal → above normal
export const formatWord = (word: string): string => word.replaceAll('_', ' ');

// node-1, node-2, node-3, other-9 → node-[1-3],other-9: how operators write them.
export function formatHosts(names: readonly string[]): string {
  const groups = new Map<string, { digits: string; value: number }[]>();
  const plain: string[] = [];
  for (const name of names) {
    const match = /^(.*?)(\d+)$/.exec(name);
    if (!match) plain.push(name);
    else {
      const list = groups.get(match[1]!) ?? [];
      list.push({ digits: match[2]!, value: Number(match[2]) });
      groups.set(match[1]!, list);
    }
  }
  const parts = [...groups].map(([prefix, numbers]) => {
    if (numbers.length === 1) return prefix + numbers[0]!.digits;
    return `${prefix}[${formatRanges(numbers)}]`;
  });
  return [...parts, ...plain].join(',');
}

function formatRanges(numbers: { digits: string; value: number }[]): string {
  const sorted = [...numbers].sort((a, b) => a.value - b.value);
  const ranges: string[] = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (sorted[end + 1]?.value === sorted[end]!.value + 1) end += 1;
    ranges.push(end === i ? sorted[i]!.digits : `${sorted[i]!.digits}-${sorted[end]!.digits}`);
    i = end + 1;
  }
  return ranges.join(',');
}

// What <input type="datetime-local"> takes: the clock of the page, to the minute.
export function toLocalInput(date: Date): string {
  const at = clockOf(date);
  return `${dayOf(at)}T${two(at.hour)}:${two(at.minute)}`;
}

export const formatReading = (value: number | null | undefined, unit: string): string =>
  value === null || value === undefined ? '–' : `${formatCount(Math.round(value))} ${unit}`;

// For text within a text that is no markup: FIRST STRONG ISOLATE … POP DIRECTIONAL ISOLATE.
export const isolated = (text: string): string => `\u2068${text}\u2069`;

// Why something ended, with the program's exit code where that is of one that failed and not named already.
export function formatEnd(reason: string | null, code: number | null): string {
  const isNamed = code === null || code === 0 || (reason ?? '').includes(`code ${code}`);
  return [reason, isNamed ? null : `exit code ${code}`].filter(Boolean).join(', ');
}
