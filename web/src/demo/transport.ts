import type { Transport } from '../api/client';
import type { ClusterEvent, Job, JobVerb, Node, NodeVerb, Priority } from '../api/types';
import { checkpointsOf, clusterOf, progressOf, specOf, listEvents, listJobs, nodeOf, quotasOf, seriesOf, staysOf, whatIfOf, whyOf } from './answers';
import { makeJob, users } from './cast';
import { historyOf, knobsOf, queueOf, usageOf } from './queueAnswers';
import { answerLog, type MadeLog, madeLog, searchLogs, shortened } from './logs';
import { World } from './world';

// The REST API answered in the browser, for design work and screenshots. Loaded only in demo mode.
const stepMs = 1_000;
const aliveMs = 15_000;

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
const refuse = (status: number, title: string, detail: string): Response =>
  new Response(JSON.stringify({ title, detail, status }), { status, headers: { 'Content-Type': 'application/problem+json' } });

interface Wanted {
  jobs: number;
  isStill?: boolean; // its clock goes on, but nothing happens in it that nobody asked for
  logLinesMax?: number; // of each log, those before the first look are left out
}

export function createDemo({ jobs, isStill = false, logLinesMax = Infinity }: Wanted): Transport {
  const world = new World(jobs, logLinesMax);
  setInterval(() => (isStill ? (world.now = Date.now()) : world.step(stepMs / 1000)), stepMs);
  return (path, init) => Promise.resolve(answer(world, new URL(path, 'http://demo'), init));
}

function answer(world: World, url: URL, init: RequestInit): Response {
  const parts = url.pathname.replace('/api/v1/', '').split('/').map(decodeURIComponent);
  const [noun, name = '', verb = '', more = ''] = parts;
  const query = url.searchParams;
  const isChange = (init.method ?? 'GET') !== 'GET';
  if (noun === 'jobs') return isChange ? changeJob(world, name, verb, init) : askJobs(world, name, verb, more, query, init);
  if (noun === 'nodes') return isChange ? changeNodes(world, init) : askNodes(world, name, verb, query);
  if (noun === 'cluster') return json(name === 'series' ? seriesOf(world, query.get('window') ?? '6h') : clusterOf(world));
  if (noun === 'queue') return json(queueOf(world, query));
  if (noun === 'history') return json(historyOf(world, query));
  if (noun === 'knobs') return isChange ? refuse(403, 'permission_denied', 'the demo keeps its knobs') : json({ knobs: knobsOf(), next_cursor: null });
  if (noun === 'tokens') return isChange ? refuse(403, 'permission_denied', 'the demo makes no tokens') : json({ tokens: [], next_cursor: null });
  if (noun === 'audit') return json({ entries: [], next_cursor: null });
  if (noun === 'incidents') {
    if (isChange) world.closeIncident(Number(name), reasonOf(init));
    return json({ incidents: world.incidents.filter((each) => (each.closed_at !== null) === (query.get('state') === 'closed')), next_cursor: null });
  }
  if (noun === 'whoami') return json({ user: 'ann', role: 'admin', groups: ['research'], cluster: 'fire-flyer', quotas: [], services_url: '' });
  if (noun === 'users') return json({ users: users.map((each) => ({ name: each, role: each === 'ann' ? 'admin' : 'user', groups: ['research'], active: true })) });
  if (noun === 'quotas') return isChange ? refuse(403, 'permission_denied', 'the demo keeps its quotas') : json({ quotas: quotasOf(world) });
  if (noun === 'whatif') return json(whatIfOf(world, JSON.parse(String(init.body)) as Record<string, unknown>));
  if (noun === 'events') {
    const node = query.get('node');
    if (query.get('format') === 'list') return json(listEvents(world, query, node ? `node/${node}` : ''));
    return stream('text/event-stream', init, (push) => {
      push('retry: 1000\n\n'); // at once, as the server does it: Firefox tells of an answer only with its first byte
      const timer = setInterval(() => push(': alive\n\n'), aliveMs);
      init.signal?.addEventListener('abort', () => clearInterval(timer));
      const listener = (event: ClusterEvent): void => push(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
      const after = Number(query.get('after') ?? world.lastSeq());
      for (const event of world.events.slice(world.events.findLastIndex((each) => each.seq <= after) + 1)) listener(event);
      world.listeners.add(listener);
      init.signal?.addEventListener('abort', () => world.listeners.delete(listener));
    });
  }
  return refuse(404, 'not_found', `no such route: ${url.pathname}`);
}

function askJobs(world: World, id: string, what: string, more: string, query: URLSearchParams, init: RequestInit): Response {
  if (id === '') return json(listJobs(world, query));
  const job = world.jobs.get(Number(id));
  if (!job) return refuse(404, 'not_found', `job ${id}`);
  if (what === 'attempts') return json({ attempts: world.attempts.get(job.id) ?? [] });
  if (what === 'events') return json(listEvents(world, query, `job/${job.id}`));
  if (what === 'why') return json(whyOf(world, job));
  if (what === 'checkpoints') return json(checkpointsOf(world, job));
  if (what === 'usage') return json(usageOf(world, job, query));
  if (what === 'progress') return json(progressOf(world, job));
  if (what === 'spec') return new Response(specOf(job), { headers: { 'Content-Type': 'application/yaml' } });
  if (what === 'logs') return askLogs(world, job, more, query, init);
  return json(job);
}

function changeJob(world: World, id: string, verb: string, init: RequestInit): Response {
  if (id === '') {
    const job = makeJob(world.random, world.nextId(), world.time());
    const name = /^name:\s*(\S+)/m.exec(String(init.body))?.[1];
    return json(world.submit({ ...job, user: 'ann', name: name ?? job.name }), 201);
  }
  if (id === 'actions') return changeJobs(world, String(init.body));
  const job = world.jobs.get(Number(id));
  if (!job) return refuse(404, 'not_found', `job ${id}`);
  const body = JSON.parse(String(init.body ?? '{}')) as { reason?: string; priority?: Priority };
  const reason = body.reason || `${verb} by ann`;
  if (verb === 'priority') job.priority = body.priority!;
  const verbs: Partial<Record<JobVerb, () => void>> = {
    stop: () => stop(world, job, reason),
    suspend: () => world.suspend(job.id, reason),
    resume: () => (job.held = false),
    requeue: () => world.suspend(job.id, reason),
    hold: () => (job.held = true),
    release: () => (job.held = false),
  };
  verbs[verb as JobVerb]?.();
  return json(job);
}

function changeJobs(world: World, body: string): Response {
  const { verb, jobs, reason } = JSON.parse(body) as { verb: JobVerb; jobs: (number | string)[]; reason?: string };
  const results = jobs.map((id) => {
    const answer = changeJob(world, String(id), verb, { body: JSON.stringify({ reason }) });
    return { name: String(id), job_id: Number(id), code: answer.ok ? 'ok' : 'not_found', message: '' };
  });
  return json({ results });
}

function stop(world: World, job: Job, reason: string): void {
  if (job.state === 'running') return world.end(job.id, 'stopped', reason);
  world.waiting.delete(job.id);
  Object.assign(job, { state: 'stopped', ended_at: world.time(), end_reason: reason, pending_reason: null });
}

const reasonOf = (init: RequestInit): string => (JSON.parse(String(init.body ?? '{}')) as { reason?: string }).reason ?? '';

function askNodes(world: World, name: string, what: string, query: URLSearchParams): Response {
  if (what === 'jobs') return json({ jobs: staysOf(world, name) });
  if (name === '') {
    const [liveness, scheduling] = [query.get('liveness'), query.get('scheduling')];
    const fitting = world.nodes.filter((node) => (liveness ?? node.liveness) === node.liveness && (scheduling ?? node.scheduling) === node.scheduling);
    return json({ nodes: fitting.map((node) => nodeOf(node, world.now)), next_cursor: null });
  }
  const node = world.byName.get(name);
  return node ? json(nodeOf(node, world.now)) : refuse(404, 'not_found', `node ${name}`);
}

interface NodeOrder {
  verb: NodeVerb;
  nodes: string[];
  reason?: string;
  deadline?: string;
}

function changeNodes(world: World, init: RequestInit): Response {
  const order = JSON.parse(String(init.body)) as NodeOrder;
  const results = order.nodes.map((name) => {
    const node = world.byName.get(name);
    if (node) changeNode(world, node, order);
    return { name, job_id: null, code: node ? 'ok' : 'not_found', message: '' };
  });
  return json({ results });
}

function changeNode(world: World, node: Node, { verb, reason = '', deadline }: NodeOrder): void {
  const isEmpty = node.jobs.length === 0;
  const drained = isEmpty ? 'drained' : deadline ? 'cordoned' : 'draining';
  const after: Partial<Record<NodeVerb, Node['scheduling']>> = { cordon: 'cordoned', drain: drained, undrain: 'open', fence: 'drained', validate: 'cordoned' };
  const scheduling = after[verb] ?? node.scheduling;
  const isOpen = scheduling === 'open';
  const drain_at = verb === 'drain' && deadline && !isEmpty ? deadline : null;
  Object.assign(node, { scheduling, reason: isOpen ? null : reason, reason_by: isOpen ? null : 'ann', drain_at });
  world.emit('ann', 'node_scheduling_changed', `node/${node.name}`, `${scheduling}: ${reason}`, { scheduling, reason, by: isOpen ? '' : 'ann', drain_at });
  if (scheduling === 'draining') for (const id of [...node.jobs]) world.suspend(id, `node ${node.name} is being drained`);
}

function logsOf(world: World, job: Job): { attempt: number; rank: number; log: MadeLog }[] {
  const attempts = world.attempts.get(job.id) ?? [];
  return attempts.flatMap((attempt) =>
    attempt.ranks.map(({ rank }) => ({
      attempt: attempt.attempt,
      rank,
      log: shortened(madeLog(rank, Date.parse(attempt.running_at ?? attempt.placed_at), () => {
        const ended = attempt.ended_at ?? (job.state === 'running' ? null : (job.ended_at ?? world.time()));
        return ended === null ? null : Date.parse(ended);
      }), world.logLinesMax, world.madeAt),
    })),
  );
}

function askLogs(world: World, job: Job, verb: string, query: URLSearchParams, init: RequestInit): Response {
  const logs = logsOf(world, job);
  if (verb === 'search') return json(searchLogs(logs, query));
  const [attempt, rank] = [Number(query.get('attempt') ?? 0), Number(query.get('rank') ?? 0)];
  const found = logs.find((each) => each.rank === rank && (attempt === 0 || each.attempt === attempt));
  return found ? answerLog(found.log, query, init.signal) : refuse(404, 'not_found', `job ${job.id} has no rank ${rank}`);
}

// `feed` says with false that nothing more comes.
function stream(type: string, init: RequestInit, feed: (push: (text: string) => void) => boolean | void): Response {
  const encoder = new TextEncoder();
  let isOpen = true;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      init.signal?.addEventListener('abort', () => (isOpen = false));
      const goesOn = feed((text) => isOpen && controller.enqueue(encoder.encode(text)));
      if (goesOn === false) {
        isOpen = false;
        controller.close();
      }
    },
    cancel() {
      isOpen = false;
    },
  });
  return new Response(body, { status: 200, headers: { 'Content-Type': type } });
}
