import type { HistoryReport, Job, JobUsage, Knob, Queue, QueueBlock, QueueEntry } from '../api/types';
import { alignStep, type HistoryStep } from '../lib/history';
import { priorities } from '../api/types';
import { runsOf, stepSecondsOf } from './answers';
import { users } from './cast';
import type { World } from './world';

// The demo world's queue, history and use of GPUs, in the words of the REST API.

const blocksMax = 300;

export function queueOf(world: World, query: URLSearchParams): Queue {
  const waiting = [...world.waiting].map((id) => world.jobs.get(id)!);
  const isIn = (job: Job): boolean => !job.held && job.pending_reason?.code !== 'dependency';
  const ordered = [...waiting].sort((a, b) => a.group.localeCompare(b.group) || Number(isIn(b)) - Number(isIn(a)) || levelOf(a) - levelOf(b) || a.id - b.id);
  const places = new Map<string, number[]>(); // of each group, how many of each priority are before
  const entries = ordered.map((job): QueueEntry => {
    const levels = places.get(job.group) ?? priorities.map(() => 0);
    places.set(job.group, levels);
    const by_priority = total(levels.slice(0, levelOf(job)));
    const before = total(levels);
    if (isIn(job)) levels[levelOf(job)]! += 1;
    const position = isIn(job) ? before + 1 : null;
    const wait = 60_000 * (3 + before * 0.7);
    return {
      id: job.id, name: job.name, user: job.user, group: job.group, priority: job.priority, state: job.state, held: job.held, node_count: job.node_count,
      gpus_per_node: job.gpus_per_node, pending_reason: job.held ? { code: 'held', text: 'held by its owner' } : job.pending_reason!, waiting_since: job.submitted_at, position,
      ahead: position === null ? null : { by_priority, by_class: 0, by_usage: 0, by_age: before - by_priority }, feedback_class: 0,
      start_p50: position === null ? null : new Date(world.now + wait).toISOString(), start_p90: position === null ? null : new Date(world.now + 2.2 * wait + 240_000).toISOString(), nodes_held: 0,
    };
  });
  const wanted = entries.filter((entry) => matches(entry, query));
  const from = Number(query.get('cursor') ?? 0);
  const limit = Number(query.get('limit') ?? 100);
  const next = from + limit;
  return {
    entries: wanted.slice(from, next), next_cursor: next < wanted.length ? String(next) : null, total: wanted.length, blocks: blocksOf(world), groups: groupsOf(world, waiting),
    at: world.time(), estimated_at: new Date(Math.max(world.madeAt, world.now - 4_000)).toISOString(), estimate_note: 'the planner run ahead 9 times, with run times learned from 4,211 jobs',
  };
}

const levelOf = (job: Job): number => priorities.indexOf(job.priority);
const total = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

function matches(entry: QueueEntry, query: URLSearchParams): boolean {
  const [user, group, wanted] = [query.get('user'), query.get('group'), query.getAll('priority')];
  return (!user || entry.user === user) && (!group || entry.group === group) && (wanted.length === 0 || wanted.includes(entry.priority));
}

function blocksOf(world: World): QueueBlock[] {
  const blocks = [...world.running].map(([id, end]): QueueBlock => {
    const job = world.jobs.get(id)!;
    const nodes = job.gpus_per_node === 0 ? job.node_count : (job.node_count * job.gpus_per_node) / 8;
    // Between now and the end that the demo knows, and beyond: nobody else knows it so well.
    const p50 = Math.max(world.now + 60_000, end);
    return { kind: 'running', group: job.group, nodes, id, name: job.name, user: job.user, jobs: 1, end_p50: new Date(p50).toISOString(), end_p90: new Date(p50 + 0.9 * (p50 - world.now)).toISOString(), from: null };
  });
  blocks.sort((a, b) => b.nodes - a.nodes);
  const rest = blocks.splice(blocksMax);
  const steps = new Map<string, QueueBlock>();
  for (const block of rest) {
    const key = `${block.group} ${Math.floor((Date.parse(block.end_p50!) - world.now) / 1_800_000)}`;
    const sum = steps.get(key);
    if (sum) Object.assign(sum, { nodes: sum.nodes + block.nodes, jobs: sum.jobs + 1 });
    else steps.set(key, { ...block, id: null, name: '', user: '' });
  }
  const closed = new Map<string, number>();
  for (const node of world.nodes) if (node.liveness !== 'up' || node.scheduling !== 'open') closed.set(node.group, (closed.get(node.group) ?? 0) + 1);
  const shut = [...closed].map(([group, nodes]): QueueBlock => ({ kind: 'closed', group, nodes, id: null, name: '', user: '', jobs: 0, end_p50: null, end_p90: null, from: null }));
  return [...blocks, ...steps.values(), ...shut];
}

function groupsOf(world: World, waiting: readonly Job[]): Queue['groups'] {
  const names = [...new Set(world.nodes.map((node) => node.group))].sort();
  return names.map((group) => ({ group, nodes: world.nodes.filter((node) => node.group === group).length, waiting: waiting.filter((job) => job.group === group).length }));
}

// A plausible past that is the same each time one looks.
export function historyOf(world: World, query: URLSearchParams): HistoryReport {
  const until = Date.parse(query.get('until') ?? world.time());
  const since = Date.parse(query.get('since') ?? '') || until - 7 * 86_400_000;
  const step = (query.get('step') ?? '1h') as HistoryStep;
  const ms = { '1h': 3_600_000, '1d': 86_400_000, '7d': 7 * 86_400_000 }[step];
  const kept = world.now - 120 * 86_400_000;
  const times: number[] = [];
  for (let at = Math.max(alignStep(since, step), alignStep(kept, step)); at < Math.min(until, world.now); at += ms) times.push(at);
  const wave = (at: number, period: number): number => 0.5 + 0.5 * Math.sin(at / period);
  const noise = (at: number, salt: number): number => (Math.abs(Math.sin(at / 7_919_000 + salt)) * 1_000) % 1;
  const hours = ms / 3_600_000;
  const gpus = world.nodes.length * 8 * 3600 * hours;
  const count = (perHour: number, salt: number): number[] => times.map((at) => Math.round(perHour * hours * (0.4 + 1.2 * noise(at, salt))));
  const broken = times.map((at) => Math.round(gpus * (0.002 + 0.01 * noise(at, 3))));
  const waits = times.map((at) => Math.round(240 + 2_400 * wave(at, 13_750_987) * noise(at, 5)));
  const used = times.map((at) => Math.round(gpus * (0.955 + 0.035 * wave(at, 13_750_987))));
  return {
    step_seconds: ms / 1000, at: times.map((at) => new Date(at).toISOString()),
    total_gpu_seconds: times.map(() => gpus), used_gpu_seconds: used, free_gpu_seconds: times.map((_, i) => Math.max(0, gpus - used[i]! - broken[i]!)), reserved_gpu_seconds: times.map(() => 0),
    draining_gpu_seconds: times.map((at) => Math.round(gpus * 0.004 * noise(at, 8))), broken_gpu_seconds: broken,
    submitted: count(1_100, 1), succeeded: count(1_000, 2), failed: count(42, 4), stopped: count(31, 6), preemptions: count(55, 7), faults: count(1.1, 9), nodes_lost: count(0.4, 10), checks_failed: count(0.9, 11),
    ended_gpu_seconds: count(33_000_000, 12), lost_gpu_seconds: count(620_000, 13), waits: count(1_050, 14), wait_p50_seconds: waits, wait_p90_seconds: waits.map((wait, i) => Math.round(wait * (3 + noise(times[i]!, 15)))),
    counted_to: world.time(), kept_from: new Date(kept).toISOString(),
  };
}

export function usageOf(world: World, job: Job, query: URLSearchParams): JobUsage {
  const attempts = [...(world.attempts.get(job.id) ?? [])].filter((each) => each.running_at !== null).sort((a, b) => a.attempt - b.attempt);
  const asked = Number(query.get('attempt') ?? 0);
  const attempt = asked === 0 ? attempts.at(-1) : attempts.find((each) => each.attempt === asked);
  const known = attempts.map((each) => each.attempt);
  if (!attempt) return { ranks: [], rank_count: 0, attempt: 0, attempts: known, at: [], stragglers: [], step_seconds: null, metrics: [] };
  const begin = Date.parse(attempt.running_at!);
  const end = attempt.ended_at === null ? world.now : Date.parse(attempt.ended_at);
  const points = Math.max(1, Math.min(60, Math.floor((end - begin) / 10_000)));
  const at = Array.from({ length: points }, (_, i) => begin + ((end - begin) * (i + 1)) / points);
  const slow = job.id % 3 === 0 && attempt.ranks.length > 2 ? job.id % attempt.ranks.length : -1;
  const busy = 70 + ((job.id * 37) % 28);
  const stepSeconds = stepSecondsOf(job);
  const before = runsOf(world, job).find((run) => run.attempt === attempt.attempt)?.before ?? 0;
  const ranks = attempt.ranks.map(({ rank, node }) => ({
    rank, node,
    gpu_percent: at.map((time) => Math.round((rank === slow ? 0.3 : 1) * Math.min(100, busy + 3 * Math.sin(time / 9_000 + rank)))),
    gpu_memory_percent: at.map((time) => Math.round(Math.min(96, 55 + (job.id % 30) + (time - begin) / 900_000))),
    step: at.map((time) => (rank === 0 ? Math.floor((before + Math.max(0, time - begin) / 1000) / stepSeconds) : null)),
  }));
  const stragglers = slow < 0 ? [] : [{ rank: slow, node: attempt.ranks[slow]!.node, text: `its GPUs are ${Math.round(0.3 * busy)} % busy, the middle rank's ${busy} %` }];
  const times = at.map((time) => new Date(time).toISOString());
  const loss = at.map((time) => 0.4 + 3 * Math.exp(-(before + Math.max(0, time - begin) / 1000) / stepSeconds / 900) + 0.02 * Math.sin(time / 7_000));
  const metrics = job.id % 2 === 0 ? [{ name: 'loss', rank: 0, at: times, value: loss }] : [];
  ranks.sort((a, b) => Number(b.rank === slow) - Number(a.rank === slow) || a.rank - b.rank);
  return { ranks: ranks.slice(0, Number(query.get('limit') ?? 64)), rank_count: ranks.length, attempt: attempt.attempt, attempts: known, at: times, stragglers, step_seconds: stepSeconds, metrics };
}

export const knobsOf = (): Knob[] => {
  const knob = (name: string, value: string, legal: string, part: Partial<Knob> = {}): Knob => ({ name, value, config_value: value, legal, may_change: true, set_by: '', reason: '', set_at: null, ...part });
  return [
    knob('agent_lease', '30s', '5s..10m', { may_change: false }),
    knob('defrag_moves_per_hour', '240', '0..100000'),
    knob('min_quantum', '20m', '1s..24h', { config_value: '30m', set_by: users[0]!, reason: 'short jobs before the deadline', set_at: new Date(Date.now() - 5 * 3_600_000).toISOString() }),
    knob('policy', 'feedback', 'fifo, feedback'),
  ];
};
