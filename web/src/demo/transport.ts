import type { Transport } from '../api/client';
import type { Job, JobVerb, NodeVerb, Priority } from '../api/types';
import { clusterOf, listEvents, listJobs, nodeOf, quotasOf, whatIfOf, whyOf } from './answers';
import { makeJob, users } from './cast';
import { World } from './world';

// The REST API answered in the browser, for design work and screenshots. Loaded only in demo mode.
const stepMs = 1_000;

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
const refuse = (status: number, title: string, detail: string): Response => json({ title, detail, status }, status);

export function createDemo({ jobs }: { jobs: number }): Transport {
  const world = new World(jobs);
  setInterval(() => world.step(stepMs / 1000), stepMs);
  return (path, init) => Promise.resolve(answer(world, new URL(path, 'http://demo'), init));
}

function answer(world: World, url: URL, init: RequestInit): Response {
  const parts = url.pathname.replace('/api/v1/', '').split('/').map(decodeURIComponent);
  const [noun, name = '', verb = ''] = parts;
  const query = url.searchParams;
  const isChange = (init.method ?? 'GET') !== 'GET';
  if (noun === 'jobs') return isChange ? changeJob(world, name, verb, init) : askJobs(world, name, verb, query, init);
  if (noun === 'nodes') return isChange ? changeNode(world, name, verb as NodeVerb, init) : askNodes(world, name);
  if (noun === 'cluster') return json(clusterOf(world));
  if (noun === 'incidents') return json({ incidents: world.incidents });
  if (noun === 'whoami') return json({ user: 'ann', role: 'admin', groups: ['research'], cluster: 'fire-flyer', quotas: [] });
  if (noun === 'users') return json({ users: users.map((each) => ({ name: each, role: each === 'ann' ? 'admin' : 'user', groups: ['research'], active: true })) });
  if (noun === 'quotas') return isChange ? refuse(404, 'not_found', 'no such route') : json({ quotas: quotasOf(world) });
  if (noun === 'whatif') return json(whatIfOf(world, JSON.parse(String(init.body)) as Record<string, unknown>));
  if (noun === 'events') {
    const node = query.get('node');
    if (query.get('format') === 'list') return json(listEvents(world, query, node ? `node/${node}` : ''));
    return stream(init, (push) => {
      world.onEvent = (event) => push(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
    });
  }
  return refuse(404, 'not_found', `no such route: ${url.pathname}`);
}

function askJobs(world: World, id: string, what: string, query: URLSearchParams, init: RequestInit): Response {
  if (id === '') return json(listJobs(world, query));
  const job = world.jobs.get(Number(id));
  if (!job) return refuse(404, 'not_found', `job ${id}`);
  if (what === 'attempts') return json({ attempts: world.attempts.get(job.id) ?? [] });
  if (what === 'events') return json(listEvents(world, query, `job/${job.id}`));
  if (what === 'why') return json(whyOf(world, job));
  if (what === 'logs') return logOf(job, Number(query.get('rank') ?? 0), init);
  return json(job);
}

function changeJob(world: World, id: string, verb: string, init: RequestInit): Response {
  if (id === '') {
    const job = makeJob(world.random, world.nextId(), world.time());
    const name = /^name:\s*(\S+)/m.exec(String(init.body))?.[1];
    return json(world.submit({ ...job, user: 'ann', name: name ?? job.name }), 201);
  }
  const job = world.jobs.get(Number(id));
  if (!job) return refuse(404, 'not_found', `job ${id}`);
  const body = JSON.parse(String(init.body ?? '{}')) as { reason?: string; priority?: Priority };
  const reason = body.reason || `${verb} by ann`;
  if (verb === 'priority') job.priority = body.priority!;
  const verbs: Record<JobVerb, () => void> = {
    stop: () => stop(world, job, reason),
    suspend: () => world.suspend(job.id, reason),
    resume: () => (job.held = false),
    hold: () => (job.held = true),
    release: () => (job.held = false),
  };
  verbs[verb as JobVerb]?.();
  return json(job);
}

function stop(world: World, job: Job, reason: string): void {
  if (job.state === 'running') return world.end(job.id, 'stopped', reason);
  world.waiting.delete(job.id);
  Object.assign(job, { state: 'stopped', ended_at: world.time(), end_reason: reason, pending_reason: null });
}

function askNodes(world: World, name: string): Response {
  if (name === '') return json({ nodes: world.nodes.map((node) => nodeOf(node, world.now)), next_cursor: null });
  const node = world.byName.get(name);
  return node ? json(nodeOf(node, world.now)) : refuse(404, 'not_found', `node ${name}`);
}

function changeNode(world: World, name: string, verb: NodeVerb, init: RequestInit): Response {
  const node = world.byName.get(name);
  if (!node) return refuse(404, 'not_found', `node ${name}`);
  const { reason = '' } = JSON.parse(String(init.body ?? '{}')) as { reason?: string };
  const scheduling = { cordon: 'cordoned', drain: node.jobs.length > 0 ? 'draining' : 'drained', undrain: 'open', fence: 'drained' } as const;
  Object.assign(node, { scheduling: scheduling[verb], reason: verb === 'undrain' ? null : reason, reason_by: verb === 'undrain' ? null : 'ann' });
  world.emit('ann', 'node_scheduling_changed', `node/${name}`, `${node.scheduling}: ${reason}`, { scheduling: node.scheduling, reason, by: 'ann' });
  return json(node);
}

function logOf(job: Job, rank: number, init: RequestInit): Response {
  let step = 1200;
  const line = (): string => {
    step += 1;
    const loss = (2.9 * Math.exp(-step / 9000) + 0.01 * Math.sin(step)).toFixed(4);
    return `${new Date().toISOString().replace('Z', '482Z')} step ${step} loss ${loss} lr 2.4e-04 tokens/s ${31_200 + ((step * 77) % 900)} [rank ${rank}]\n`;
  };
  return stream(init, (push) => {
    push(Array.from({ length: 900 }, line).join(''));
    if (job.state !== 'running') return false;
    const timer = setInterval(() => push(line()), 700);
    init.signal?.addEventListener('abort', () => clearInterval(timer));
    return true;
  });
}

// `feed` says with false that nothing more comes.
function stream(init: RequestInit, feed: (push: (text: string) => void) => boolean | void): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      let isOpen = true;
      init.signal?.addEventListener('abort', () => (isOpen = false));
      const goesOn = feed((text) => isOpen && controller.enqueue(encoder.encode(text)));
      if (goesOn === false) controller.close();
    },
  });
  return new Response(body, { status: 200, headers: { 'Content-Type': 'text/plain' } });
}
