import type { Cluster, ClusterEvent, Job, JobCheckpoint, Node, NodeStay, ProgressPoint, Quota, Series, SumsByWord, WhatIf, Why } from '../api/types';
import { priorities } from '../api/types';
import { users } from './cast';
import type { World } from './world';

// The demo world in the words of the REST API.
export function clusterOf(world: World): Cluster {
  const gpus = { total: 0, used: 0, free: 0, draining: 0, broken: 0, reserved: 96 };
  const cpus = { total: 0, used: 0, free: 0 };
  const memory = { total: 0, used: 0, free: 0 };
  const liveness: Record<string, number> = {};
  const scheduling: Record<string, number> = {};
  for (const node of world.nodes) {
    gpus.total += node.gpus;
    gpus.used += node.gpus - node.gpus_free;
    if (node.liveness !== 'up') gpus.broken += node.gpus_free;
    else if (node.scheduling !== 'open') gpus.draining += node.gpus_free;
    else gpus.free += node.gpus_free;
    const idle = node.gpus_free / node.gpus; // CPUs and memory come with the GPUs
    for (const [sum, whole] of [[cpus, node.cpus], [memory, node.memory_bytes]] as const) {
      sum.total += whole;
      sum.used += Math.round(whole * (1 - idle));
      if (node.liveness === 'up' && node.scheduling === 'open') sum.free += Math.round(whole * idle);
    }
    liveness[node.liveness] = (liveness[node.liveness] ?? 0) + 1;
    scheduling[node.scheduling] = (scheduling[node.scheduling] ?? 0) + 1;
  }
  gpus.reserved = Math.min(96, gpus.free);
  gpus.free -= gpus.reserved;
  const jobs: Record<string, number> = {};
  for (const job of world.jobs.values()) jobs[job.state] = (jobs[job.state] ?? 0) + 1;
  return {
    name: 'fire-flyer', version: 'demo', epoch: 3, leader: 'hai-1:7010', started_at: new Date(world.now - 86_400_000).toISOString(), gpus, cpus, memory_bytes: memory, nodes: { liveness, scheduling }, jobs, last_seq: world.lastSeq(),
    running: runningSums(world), waiting: waitingSums(world), counted_at: world.time(),
  };
}

function sumBy(jobs: readonly Job[], key: (job: Job) => string): SumsByWord {
  const sums: SumsByWord = {};
  for (const job of jobs) {
    const sum = (sums[key(job)] ??= { jobs: 0, nodes: 0, gpus: 0 });
    sum.jobs += 1;
    sum.nodes += job.node_count;
    sum.gpus += job.node_count * (job.gpus_per_node || 8);
  }
  return sums;
}

function runningSums(world: World): Cluster['running'] {
  const jobs = [...world.running.keys()].map((id) => world.jobs.get(id)!);
  return { by_user: sumBy(jobs, (job) => job.user), by_group: sumBy(jobs, (job) => job.group), by_priority: sumBy(jobs, (job) => job.priority) };
}

function waitingSums(world: World): Cluster['waiting'] {
  const jobs = [...world.waiting].map((id) => world.jobs.get(id)!);
  return {
    by_reason: sumBy(jobs, (job) => job.pending_reason?.code ?? 'not_considered'),
    by_user: sumBy(jobs, (job) => job.user),
    by_group: sumBy(jobs, (job) => job.group),
    by_priority: sumBy(jobs, (job) => job.priority),
  };
}

// A plausible past: full by day, a little less by night, and a queue that follows.
export function seriesOf(world: World, window: string): Series {
  const unit = { m: 60, h: 3_600, d: 86_400 }[window.slice(-1)] ?? 3_600;
  const seconds = Number.parseInt(window, 10) * unit;
  const step = [10, 60, 600, 3_600].find((each) => seconds / each <= 2_200) ?? 3_600;
  const { gpus, jobs } = clusterOf(world);
  const points = Array.from({ length: Math.floor(seconds / step) }, (_, i) => world.now - (seconds - (i + 1) * step) * 1000);
  // The last point is what is now, as everything else on the page has it.
  const past = (at: number): number => Math.min(1, (world.now - at) / 7_200_000);
  const wave = (at: number): number => 0.5 + 0.5 * Math.sin(at / 13_750_987) * Math.cos(at / 3_141_592);
  const column = (value: (at: number) => number): number[] => points.map((at) => Math.round(value(at)));
  const used = (at: number): number => Math.min(gpus.total - gpus.broken, gpus.used * (1 - 0.06 * past(at) * wave(at + 5e6)));
  const part = (at: number): number => 1 - past(at) * (0.45 - 0.4 * wave(at)); // of those that wait now
  return {
    step_seconds: step,
    at: points.map((at) => new Date(at).toISOString()),
    gpus_total: column(() => gpus.total),
    gpus_used: column(used),
    gpus_free: column((at) => gpus.total - gpus.broken - gpus.draining - used(at)),
    gpus_reserved: column(() => 0),
    gpus_draining: column(() => gpus.draining),
    gpus_broken: column(() => gpus.broken),
    jobs_running: column((at) => (jobs.running ?? 0) * (1 - 0.1 * past(at) * wave(at))),
    jobs_queued: column((at) => (jobs.queued ?? 0) * part(at)),
    jobs_suspended: column((at) => (jobs.suspended ?? 0) * part(at)),
  };
}

// The demo's nodes know only who is there: laid out in order of job id.
function gpuJobsOf(node: Node): (number | null)[] {
  const used = node.gpus - node.gpus_free;
  const ids = [...node.jobs].sort((a, b) => a - b);
  return Array.from({ length: node.gpus }, (_, gpu) =>
    gpu < used ? (ids[Math.floor((gpu * ids.length) / used)] ?? null) : null,
  );
}

// A plausible load: steady within a job, different between jobs.
export function nodeOf(node: Node, now: number): Node {
  const load = (gpu: number): number => {
    const id = node.jobs[Math.min(node.jobs.length - 1, Math.floor((gpu * node.jobs.length) / node.gpus))];
    if (id === undefined || gpu >= node.gpus - node.gpus_free) return 0;
    return Math.max(3, Math.min(100, 28 + ((id * 37) % 71) + Math.round(4 * Math.sin(now / 4000 + gpu + id))));
  };
  const gpus = Array.from({ length: node.gpus }, (_, gpu) => load(gpu));
  const takesJobs = node.liveness === 'up' && node.scheduling === 'open';
  return { ...node, gpus_free: takesJobs ? node.gpus_free : 0, gpu_jobs: gpuJobsOf(node), gpu_utilization: gpus, gpu_temperature: gpus.map((percent) => 31 + Math.round(percent * 0.42)), gpu_memory: gpus.map((percent) => Math.round(percent * 0.8)), gpu_power: gpus.map((percent) => 60 + Math.round(percent * 5.9)) };
}

export function listJobs(world: World, query: URLSearchParams): { jobs: Job[]; next_cursor: string | null } {
  const states = query.getAll('state');
  const wantsFinished = query.get('finished') === 'true' || states.length > 0;
  const limit = Number(query.get('limit') ?? 100);
  const before = Number(query.get('cursor') ?? 0) || world.nextId();
  const jobs: Job[] = [];
  for (let id = before - 1; id > 0; id -= 1) {
    const job = world.jobs.get(id);
    if (!job) continue;
    if (states.length > 0 && !states.includes(job.state)) continue;
    if (!wantsFinished && job.ended_at) continue;
    if (query.get('user') && job.user !== query.get('user')) continue;
    if (query.get('group') && job.group !== query.get('group')) continue;
    if (query.get('priority') && job.priority !== query.get('priority')) continue;
    if (query.get('tag') && !job.tags.includes(query.get('tag')!)) continue;
    if (query.get('reason') && job.pending_reason?.code !== query.get('reason')) continue;
    if (query.get('q') && !`${job.id} ${job.name} ${job.user} ${job.tags.join(' ')}`.includes(query.get('q')!)) continue;
    if (jobs.length === limit) return { jobs, next_cursor: String(jobs.at(-1)!.id) };
    jobs.push({ ...job });
  }
  return { jobs, next_cursor: null };
}

export function listEvents(world: World, query: URLSearchParams, subject: string): { events: ClusterEvent[]; next_cursor: number | null } {
  const kinds = query.getAll('kind');
  const limit = Number(query.get('limit') ?? 100);
  const before = Number(query.get('before') ?? 0) || Number.MAX_SAFE_INTEGER;
  const events: ClusterEvent[] = [];
  for (let i = world.events.length - 1; i >= 0; i -= 1) {
    const event = world.events[i]!;
    if (event.seq >= before || (subject !== '' && event.subject !== subject)) continue;
    if (kinds.length > 0 && !kinds.includes(event.kind)) continue;
    if (events.length === limit) return { events, next_cursor: events.at(-1)!.seq };
    events.push(event);
  }
  return { events, next_cursor: null };
}

// The fewest running jobs of its group and of one zone whose nodes are as many as it needs; of whole nodes, but where it is
// content with a part of one.
function inTheWay(world: World, job: Job): Job[] {
  const zoneOf = (each: Job): string => world.byName.get(each.nodes[0]!)!.zone;
  const holders = [...world.running.keys()].map((id) => world.jobs.get(id)!)
    .filter((each) => each.group === job.group && (each.gpus_per_node || 8) >= (job.gpus_per_node || 8))
    .sort((a, b) => b.node_count - a.node_count || a.id - b.id);
  const choices = ['A', 'B'].flatMap((zone) => {
    const there = holders.filter((each) => zoneOf(each) === zone);
    let nodes = 0;
    const last = there.findIndex((each) => (nodes += each.node_count) >= job.node_count);
    return last < 0 ? [] : [there.slice(0, last + 1)];
  });
  return choices.sort((a, b) => a.length - b.length)[0] ?? [];
}

export function whyOf(world: World, job: Job): Why {
  const facts = (job.pending_reason?.code === 'resources' ? inTheWay(world, job) : []).map((holder) => ({
    code: 'job', text: `job ${holder.id} (${holder.name}) of ${holder.user} runs on ${holder.nodes.length > 1 ? `${holder.node_count} nodes` : holder.nodes[0]}; its quantum lasts 12 more minutes`, holders: [`job/${holder.id}`],
  }));
  const waits = job.state === 'queued' || job.state === 'suspended';
  return {
    id: job.id, name: job.name, state: job.state, held: job.held, pending_reason: job.pending_reason,
    facts: waits ? facts : [],
    start_p50: waits ? new Date(world.now + 60_000 * (2 + (job.id % 40))).toISOString() : null,
    start_p90: waits ? new Date(world.now + 60_000 * (9 + 3 * (job.id % 40))).toISOString() : null,
    estimate_note: waits ? 'the planner run ahead 9 times, with run times learned from 4,211 jobs' : null,
    jobs_before: waits ? job.id % 40 : null,
  };
}

export function quotasOf(world: World): Quota[] {
  const used = new Map<string, number>();
  for (const id of world.running.keys()) {
    const job = world.jobs.get(id)!;
    const key = `${job.user}/${job.priority}`;
    used.set(key, (used.get(key) ?? 0) + job.node_count);
  }
  const rows: Quota[] = priorities.slice(0, -1).map((priority) => ({ owner: 'public', group: '*', priority, nodes: ['low', 'below_normal'].includes(priority) ? null : 32, nodes_used: 0 }));
  users.forEach((owner, i) => {
    for (const priority of ['normal', 'high'] as const) {
      rows.push({ owner, group: 'training', priority, nodes: priority === 'high' ? 16 : 64 + 32 * (i % 4), nodes_used: 0 });
    }
  });
  // The demo's placing knows no quotas: nobody may be seen above his.
  for (const row of rows) row.nodes_used = Math.min(used.get(`${row.owner}/${row.priority}`) ?? 0, row.nodes ?? Infinity);
  return rows;
}

export function whatIfOf(world: World, body: Record<string, unknown>): WhatIf {
  const pays = (effect: 'suspended' | 'moves', text: string) => (job: Job) => ({
    id: job.id, name: job.name, user: job.user, priority: job.priority, effect, text, nodes: [], nodes_before: job.nodes,
  });
  if ('submit' in body) {
    // As one that waits and is as large.
    const nodes = Number(/node_count\W+(\d+)/.exec(JSON.stringify(body.submit))?.[1] ?? 1);
    const waiting = [...world.waiting].map((id) => world.jobs.get(id)!).filter((job) => job.pending_reason?.code === 'resources');
    const alike = waiting.find((job) => job.node_count === nodes && job.gpus_per_node === 0) ?? waiting[0];
    const differences = alike ? inTheWay(world, alike).map(pays('suspended', 'would be asked to save for it')) : [];
    return { change: 'submit the job', differences, differences_left_out: 0, job: alike ? { ...whyOf(world, alike), id: 0 } : null };
  }
  const nodes = new Set((body.drain as string[] | undefined) ?? []);
  const moved = [...world.running.keys()].map((id) => world.jobs.get(id)!).filter((job) => job.nodes.some((name) => nodes.has(name)));
  return { change: 'the change', differences: moved.map(pays('moves', 'would save and go on elsewhere')), differences_left_out: 0, job: null };
}

const checkpointEverySeconds = 300;
const checkpointsMax = 100;

export const stepSecondsOf = (job: Job): number => 0.6 + (job.id % 7) / 10;

// When its program ran, the oldest first, and for how many seconds it had run before.
export function runsOf(world: World, job: Job): { attempt: number; from: number; until: number; before: number }[] {
  let before = 0;
  return [...(world.attempts.get(job.id) ?? [])].reverse().flatMap(({ attempt, running_at, ended_at }) => {
    if (running_at === null) return [];
    const from = Date.parse(running_at);
    const until = Math.max(from, ended_at === null ? world.now : Date.parse(ended_at)); // one that was just placed runs soon
    const run = { attempt, from, until, before };
    before += (until - from) / 1000;
    return [run];
  });
}

// Saved while it runs, after so many seconds of that each.
export function checkpointsOf(world: World, job: Job): { checkpoints: JobCheckpoint[]; next_cursor: null } {
  const checkpoints = runsOf(world, job).flatMap(({ attempt, from, until, before }): JobCheckpoint[] => {
    const first = Math.floor(before / checkpointEverySeconds) + 1;
    const last = Math.floor((before + (until - from) / 1000) / checkpointEverySeconds);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
      const seconds = (first + i) * checkpointEverySeconds;
      const step = Math.floor(seconds / stepSecondsOf(job));
      return { attempt, step, path: `${job.workspace}/ckpt-${step}`, save_seconds: 3 + ((job.id + first + i) % 4), at: new Date(from + (seconds - before) * 1000).toISOString() };
    });
  });
  return { checkpoints: checkpoints.reverse().slice(0, checkpointsMax), next_cursor: null };
}

export function progressOf(world: World, job: Job): { points: ProgressPoint[] } {
  const { checkpoints } = checkpointsOf(world, job);
  return { points: checkpoints.map(({ at, step }) => ({ at, step })).reverse() };
}

export function staysOf(world: World, node: string): NodeStay[] {
  const stays: NodeStay[] = [];
  for (const [id, attempts] of world.attempts) {
    const job = world.jobs.get(id)!;
    for (const each of attempts) {
      const rank = each.ranks.find((at) => at.node === node);
      if (!rank) continue;
      const { attempt, state, placed_at, ended_at, end_reason } = each;
      stays.push({ id, name: job.name, user: job.user, attempt, rank: rank.rank, state, placed_at, ended_at, end_reason });
    }
  }
  return stays.sort((a, b) => b.placed_at.localeCompare(a.placed_at)).slice(0, 200);
}

export const specOf = (job: Job): string =>
  `version: 2\nname: ${job.name}\npriority: ${job.priority}\nspec:\n  workspace: ${job.workspace}\n  entrypoint: ${job.entrypoint}\n` +
  `resource:\n  group: ${job.group}\n  node_count: ${job.node_count}\n`;
