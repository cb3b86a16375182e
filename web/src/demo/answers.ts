import type { Cluster, ClusterEvent, Job, Node, Quota, WhatIf, Why } from '../api/types';
import { priorities } from '../api/types';
import { users } from './cast';
import type { World } from './world';

// The demo world in the words of the REST API.
export function clusterOf(world: World): Cluster {
  const gpus = { total: 0, used: 0, free: 0, draining: 0, broken: 0, reserved: 96 };
  const liveness: Record<string, number> = {};
  const scheduling: Record<string, number> = {};
  for (const node of world.nodes) {
    gpus.total += node.gpus;
    gpus.used += node.gpus - node.gpus_free;
    if (node.liveness !== 'up') gpus.broken += node.gpus_free;
    else if (node.scheduling !== 'open') gpus.draining += node.gpus_free;
    else gpus.free += node.gpus_free;
    liveness[node.liveness] = (liveness[node.liveness] ?? 0) + 1;
    scheduling[node.scheduling] = (scheduling[node.scheduling] ?? 0) + 1;
  }
  gpus.reserved = Math.min(96, gpus.free);
  gpus.free -= gpus.reserved;
  const jobs: Record<string, number> = {};
  for (const job of world.jobs.values()) jobs[job.state] = (jobs[job.state] ?? 0) + 1;
  return { name: 'fire-flyer', version: 'demo', epoch: 3, gpus, nodes: { liveness, scheduling }, jobs, last_seq: world.lastSeq() };
}

// A plausible load: steady within a job, different between jobs.
export function nodeOf(node: Node, now: number): Node {
  const load = (gpu: number): number => {
    const id = node.jobs[Math.min(node.jobs.length - 1, Math.floor((gpu * node.jobs.length) / node.gpus))];
    if (id === undefined || gpu >= node.gpus - node.gpus_free) return 0;
    return Math.max(3, Math.min(100, 28 + ((id * 37) % 71) + Math.round(4 * Math.sin(now / 4000 + gpu + id))));
  };
  const gpus = Array.from({ length: node.gpus }, (_, gpu) => load(gpu));
  return { ...node, gpu_utilization: gpus, gpu_temperature: gpus.map((percent) => 31 + Math.round(percent * 0.42)) };
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
    if (query.get('tag') && !job.tags.includes(query.get('tag')!)) continue;
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

export function whyOf(world: World, job: Job): Why {
  const holders = [...world.running.keys()].slice(job.id % 50, (job.id % 50) + 2);
  const facts = holders.map((id) => {
    const holder = world.jobs.get(id)!;
    return { code: 'job', text: `job ${id} (${holder.name}) of ${holder.user} runs on ${holder.nodes.length > 1 ? `${holder.node_count} nodes` : holder.nodes[0]}; its quantum lasts 12 more minutes`, holders: [`job/${id}`] };
  });
  const waits = job.state === 'queued' || job.state === 'suspended';
  return {
    id: job.id, name: job.name, state: job.state, held: job.held, pending_reason: job.pending_reason,
    facts: waits ? facts : [],
    start_p50: waits ? new Date(world.now + 60_000 * (2 + (job.id % 40))).toISOString() : null,
    start_p90: waits ? new Date(world.now + 60_000 * (9 + (job.id % 90))).toISOString() : null,
    estimate_note: waits ? 'the planner run ahead 9 times, with run times learned from 4,211 jobs' : null,
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
      rows.push({ owner, group: 'training', priority, nodes: priority === 'high' ? 16 : 64 + 32 * (i % 4), nodes_used: Math.min(used.get(`${owner}/${priority}`) ?? 0, 160) });
    }
  });
  return rows;
}

export function whatIfOf(world: World, body: Record<string, unknown>): WhatIf {
  const running = [...world.running.keys()].slice(0, 2).map((id) => world.jobs.get(id)!);
  const differences = running.map((job) => ({
    id: job.id, name: job.name, user: job.user, priority: job.priority, effect: 'suspended' as const,
    text: 'would be asked to save for it', nodes: [], nodes_before: job.nodes,
  }));
  const sample = [...world.waiting].map((id) => world.jobs.get(id)!)[0];
  const isSubmit = 'submit' in body;
  return { change: isSubmit ? 'submit the job' : 'the change', differences: isSubmit ? differences : [], differences_left_out: 0, job: isSubmit && sample ? { ...whyOf(world, sample), id: 0 } : null };
}
