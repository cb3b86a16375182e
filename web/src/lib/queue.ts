import type { QueueBlock, QueueEntry, Quota } from '../api/types';
import { formatCount, formatPlural, formatWord } from './format';
import { silentHosts } from './silence';

// What the queue page makes of the server's answer. Pure.

export interface QueueFilter {
  user: string;
  team: string;
  group: string;
  priority: string;
}

export const noFilter: QueueFilter = { user: '', team: '', group: '', priority: '' };

export function readQueueFilter(search: string): QueueFilter {
  const query = new URLSearchParams(search);
  const read = (key: keyof QueueFilter): string => query.get(key) ?? '';
  return { user: read('user'), team: read('team'), group: read('group'), priority: read('priority') };
}

export function queueQuery(filter: QueueFilter): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(filter)) if (value !== '') query.set(key, value);
  return query.toString();
}

// Why others come first: the rule and how many, in the order of the rules.
export function aheadOf({ position, ahead }: QueueEntry): string[] {
  if (position === null || ahead === null) return [];
  const parts: [count: number, why: string, whyOne?: string][] = [
    [ahead.by_priority, 'with a higher priority'],
    [ahead.by_class, 'that had less GPU time or wait longer', 'that had less GPU time or waits longer'],
    [ahead.by_usage, 'of people who used less of late'],
    [ahead.by_age, 'that were there before', 'that was there before'],
  ];
  return parts.filter(([count]) => count > 0).map(([count, why, whyOne = why]) => `${formatCount(count)} ${count === 1 ? whyOne : why}`);
}

// What its owner can do about it; '' = nothing but wait.
export function adviceFor(entry: Pick<QueueEntry, 'held' | 'pending_reason' | 'ahead' | 'node_count' | 'priority'>): string {
  switch (entry.pending_reason.code) {
    case 'held':
      return 'Release it when it may start.';
    case 'dependency_failed':
      return 'The job it starts after has failed: run that one again, or submit this one without it.';
    case 'dependency':
      return 'Nothing: it starts when the jobs have succeeded that it starts after.';
    case 'array':
      return 'Nothing: its tasks have their own places in the queue, and as many may run at once as the array allows.';
    case 'begin_time':
      return 'Nothing: it starts at the time that it was given.';
    case 'user_inactive':
      return 'Ask an admin: your account is not active.';
    case 'quota':
      return 'Wait for one of your own jobs, stop one, give this one a lower priority, or ask an admin for more quota.';
    case 'resources':
      return entry.node_count > 1
        ? 'Wait; fewer nodes start sooner, and another node group may have room.'
        : 'Wait; another node group may have room.';
    case 'preempting':
    case 'starting':
      return 'Nothing: it starts within minutes.';
    default:
      return '';
  }
}

// Ends of the axis people may choose, in hours.
export const horizons = [2, 12, 24, 72, 336] as const;
export type Horizon = (typeof horizons)[number];

const share = 0.8;

// The shortest axis on which most of what is expected lies.
export function suitableHorizon(entries: readonly QueueEntry[], blocks: readonly QueueBlock[], now: number): Horizon {
  const times = [...entries.map((each) => each.start_p50), ...blocks.map((each) => each.end_p50)].flatMap((time) => (time ? [(Date.parse(time) - now) / 3_600_000] : []));
  if (times.length === 0) return 24;
  return horizons.find((hours) => times.filter((each) => each <= hours).length >= share * times.length) ?? 336;
}

export interface Band {
  block: QueueBlock;
  from: number; // nodes below it
  until: number | null; // hours from now, p50; null = nobody knows
  late: number | null; // p90
}

// Stacked: what nobody gives back lies at the bottom, what is free soonest on top, so that the free
// nodes are what lies above the stairs.
export function stackBlocks(blocks: readonly QueueBlock[], now: number): { bands: Band[]; used: number } {
  const hours = (time: string | null): number | null => (time === null ? null : Math.max(0, (Date.parse(time) - now) / 3_600_000));
  const ordered = blocks
    .filter((block) => block.from === null)
    .map((block) => ({ block, until: hours(block.end_p50), late: hours(block.end_p90) }))
    .sort((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity) || a.block.kind.localeCompare(b.block.kind) || (a.block.id ?? 0) - (b.block.id ?? 0));
  let from = 0;
  const bands = ordered.map((each) => {
    const band = { ...each, from };
    from += each.block.nodes;
    return band;
  });
  return { bands, used: from };
}

// What is expected to start within a part of the axis.
export interface Starts {
  jobs: QueueEntry[];
  nodes: number;
}

export const startParts = 24;

// Of the jobs of one node group that wait: when each is expected to start, even odds, and with how many nodes.
export function startsOf(entries: readonly QueueEntry[], group: string, hours: number, now: number): Starts[] {
  const parts = Array.from({ length: startParts }, (): Starts => ({ jobs: [], nodes: 0 }));
  for (const entry of entries) {
    if (entry.group !== group || entry.start_p50 === null) continue;
    const at = Math.max(0, (Date.parse(entry.start_p50) - now) / 3_600_000);
    const part = parts[Math.floor((at / hours) * startParts)];
    if (!part) continue; // beyond the axis
    part.jobs.push(entry);
    part.nodes += entry.node_count;
  }
  return parts;
}

const namedMax = 4;

export function startsTitle({ jobs, nodes }: Starts): string {
  const named = jobs.slice(0, namedMax).map(({ id, name, user }) => `${id} ${name} of ${user}`);
  const rest = jobs.length - named.length;
  return `${formatPlural(jobs.length, 'job')} with ${formatPlural(nodes, 'node')} expected to start, even odds: ${named.join(', ')}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}`;
}

// How many nodes are expected to be free in so many hours if nobody new came.
export function freeAfter(bands: readonly Band[], total: number, hours: number): number {
  const used = bands.reduce((sum, band) => sum + (band.until === null || band.until > hours ? band.block.nodes : 0), 0);
  return Math.max(0, total - used);
}

// The entries without what was foreseen for them, where it counted on nodes that have fallen silent since.
export function withoutLost(entries: QueueEntry[], lost: readonly string[]): QueueEntry[] {
  return lost.length === 0 ? entries : entries.map((entry) => ({ ...entry, start_p50: null, start_p90: null }));
}

// Why a job has no expected start.
export function noStart({ position, nodes_held }: Pick<QueueEntry, 'position' | 'nodes_held'>, hasEstimate: boolean, lost: readonly string[]): string {
  if (lost.length > 0) return `not known: foreseen before ${silentHosts(lost)} fell silent`;
  if (!hasEstimate) return 'being worked out';
  return position === null && nodes_held === 0 ? 'not before that changes' : 'beyond what can be foreseen';
}

// `isUnheard`: nothing is heard of nodes that it has.
export function blockTitle(block: QueueBlock, isUnheard = false): string {
  const nodes = formatPlural(Math.round(block.nodes * 10) / 10, 'node');
  if (block.kind === 'closed') return block.from ? `${nodes} will be drained` : `${nodes} closed or not up`;
  if (isUnheard) return `job ${block.id} ${block.name} of ${block.user}, ${nodes}: nothing is heard of some, and whether it runs there is not known`;
  const what = { running: 'runs', leaving: 'is leaving', held: 'holds nodes that others leave' }[block.kind] ?? formatWord(block.kind);
  return block.id === null ? `${formatPlural(block.jobs, 'other job')}, ${nodes}` : `job ${block.id} ${block.name} of ${block.user} ${what}, ${nodes}`;
}

// What the picture draws, for a spreadsheet.
export function blockRows(blocks: readonly QueueBlock[]): (string | number | null)[][] {
  const head = ['what', 'nodes', 'jobs', 'job', 'name', 'user', 'end, even odds', 'end, nine in ten', 'from'];
  return [head, ...blocks.map((block) => [block.kind, block.nodes, block.jobs, block.id, block.name, block.user, block.end_p50, block.end_p90, block.from])];
}

// Rows of one's quota that are used up.
export const fullQuotas = (quotas: readonly Quota[]): Quota[] => quotas.filter((each) => each.nodes !== null && each.nodes_used >= each.nodes);
