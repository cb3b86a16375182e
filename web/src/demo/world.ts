import type { Attempt, AttemptState, ClusterEvent, Incident, Job, JobState, Node, NodeCheck, PendingReason } from '../api/types';
import { formatHosts, formatPlural } from '../lib/format';
import { timeRun } from '../lib/timeRun';
import { makeJob, makeNodes } from './cast';
import { placeTogether } from './placement';
import { Random } from './random';

// The demo's cluster: jobs come, run, are suspended and end, nodes break and return. It knows far less
// than the planner; it only has to look like a day at work.

const pastSeconds = 8 * 3600;
const pastStepSeconds = 30;
const jobsPerSecond = 0.31;
const meanRunSeconds = 900;
const failureCodes = [1, 1, 139, 1, 2, 137, 1, 134]; // of programs that fail
const candidatesPerStep = 250;
const eventsMax = 30_000;
const lostLeaf = 'leaf-40';

export class World {
  readonly random = new Random(7);
  readonly nodes = makeNodes(this.random);
  readonly byName = new Map(this.nodes.map((node) => [node.name, node]));
  readonly jobs = new Map<number, Job>();
  readonly attempts = new Map<number, Attempt[]>();
  readonly events: ClusterEvent[] = [];
  readonly incidents: Incident[] = [];
  readonly waiting = new Set<number>();
  readonly running = new Map<number, number>(); // job → when it ends
  readonly listeners = new Set<(event: ClusterEvent) => void>();
  now: number;
  private readonly open = new Map<string, number>();
  private seq = 0;
  private lastJob = 0;

  readonly madeAt: number; // when its past was over

  constructor(jobs: number, readonly logLinesMax = Infinity) {
    this.now = Date.now() - pastSeconds * 1000;
    const past = Math.floor(pastSeconds * jobsPerSecond);
    for (let i = 0; i < jobs - past; i += 1) this.submit();
    for (let t = 0; t < pastSeconds; t += pastStepSeconds) this.step(pastStepSeconds);
    this.now = Date.now();
    this.madeAt = this.now;
    this.breakSomething();
    this.pastIncidents();
    this.place(this.waiting.size);
    for (const id of this.waiting) this.jobs.get(id)!.pending_reason = this.reason(this.jobs.get(id)!);
  }

  time(): string {
    return new Date(this.now).toISOString();
  }

  emit(actor: string, kind: string, subject: string, text: string, body: Record<string, unknown> = {}): void {
    this.seq += 1;
    const event = { seq: this.seq, time: this.time(), actor, kind, subject, text, body };
    this.events.push(event);
    if (this.events.length > eventsMax) this.events.splice(0, eventsMax / 4);
    for (const listener of this.listeners) listener(event);
  }

  lastSeq(): number {
    return this.seq;
  }

  step(seconds: number): void {
    this.now += seconds * 1000;
    for (const [id, end] of [...this.running]) if (end <= this.now) this.finish(id);
    for (let left = this.random.exponential(seconds * jobsPerSecond); left > 0; left -= 1) {
      if (this.random.chance(Math.min(1, left))) this.submit();
    }
    if (this.random.chance(seconds / 240)) this.suspendSome();
    this.place();
  }

  submit(job = makeJob(this.random, this.lastJob + 1, this.time())): Job {
    this.lastJob = job.id;
    this.jobs.set(job.id, job);
    this.waiting.add(job.id);
    job.pending_reason = this.reason(job);
    const text = `${job.name} submitted: ${job.node_count} nodes of ${job.group}, priority ${job.priority}`;
    this.emit(job.user, 'job_submitted', `job/${job.id}`, text, { job: job.id, user: job.user });
    return job;
  }

  nextId(): number {
    return this.lastJob + 1;
  }

  // First fit in order of waiting, small jobs into the holes.
  private place(candidates = candidatesPerStep): void {
    let seen = 0;
    for (const id of this.waiting) {
      seen += 1;
      if (seen > candidates) break;
      const job = this.jobs.get(id)!;
      if (job.held) continue;
      const able = this.able(job);
      const nodes = this.fit(job, able);
      if (nodes) this.start(job, nodes);
      else job.pending_reason = this.reason(job, able.length);
    }
  }

  private fit(job: Job, able: readonly Node[]): Node[] | null {
    const found = able.filter((node) => job.gpus_per_node === 0 || node.gpus_free < 8 || !this.random.chance(0.5));
    return placeTogether(found, job.node_count);
  }

  // The nodes that can take a rank of it now.
  private able(job: Job): Node[] {
    const need = job.gpus_per_node || 8;
    return this.nodes.filter((node) => node.group === job.group && node.gpus_free >= need && node.liveness === 'up' && node.scheduling === 'open');
  }

  private reason(job: Job, able = this.able(job).length): PendingReason {
    if (job.id % 9 === 0) return { code: 'quota', text: `quota of ${job.user} in ${job.group}/${job.priority}: 64 nodes, ${Math.max(1, 65 - job.node_count)} used, ${job.node_count} asked` };
    if (job.id % 31 === 0) return { code: 'dependency', text: `waits for job ${job.id - 3} to succeed` };
    if (job.id % 47 === 0) return { code: 'preempting', text: 'nodes are held for it while 2 jobs save and leave' };
    const nodes = job.gpus_per_node > 0 ? `${formatPlural(job.node_count, 'node')} with ${job.gpus_per_node} free GPU${job.gpus_per_node === 1 ? '' : 's'}` : formatPlural(job.node_count, 'whole node');
    const but = able < job.node_count ? '' : '; the next pass of the planner looks at it';
    return { code: 'resources', text: `needs ${nodes} in ${job.group}; ${able} of ${this.openOf(job.group)} open nodes can give that now${but}` };
  }

  // Counted once: few open or close while somebody looks.
  private openOf(group: string): number {
    const known = this.open.get(group) ?? this.nodes.filter((node) => node.group === group && node.liveness === 'up' && node.scheduling === 'open').length;
    this.open.set(group, known);
    return known;
  }

  start(job: Job, nodes: Node[]): void {
    this.waiting.delete(job.id);
    const gpus = job.gpus_per_node || 8;
    const ranks = nodes.map((node, rank) => {
      const first = node.gpus - node.gpus_free;
      node.gpus_free -= gpus;
      node.jobs = [...node.jobs, job.id];
      return { rank, node: node.name, gpus: Array.from({ length: gpus }, (_, i) => first + i), phase: 'running', cause: '', exit_code: null, message: '' };
    });
    Object.assign(job, {
      state: 'running', attempt: job.attempt + 1, attempt_state: 'running', pending_reason: null,
      started_at: job.started_at ?? this.time(), running_at: this.time(), nodes: nodes.map((node) => node.name),
    });
    const attempt: Attempt = {
      job_id: job.id, attempt: job.attempt, state: 'running', placed_at: this.time(),
      running_at: new Date(this.now + 900).toISOString(), ended_at: null, end_reason: null, exit_code: null, ranks,
    };
    this.attempts.set(job.id, [attempt, ...(this.attempts.get(job.id) ?? [])]);
    const ends = this.now + 1000 * (60 + this.random.exponential(meanRunSeconds));
    this.running.set(job.id, ends);
    this.emit('scheduler', 'attempt_placed', `job/${job.id}`, `attempt ${job.attempt} placed on ${formatPlural(nodes.length, 'node')}`, {
      job: job.id, attempt: job.attempt, placement: ranks.map((rank) => ({ gpus: rank.gpus })),
    });
    this.emit(`agent:${nodes[0]!.name}`, 'attempt_running', `job/${job.id}`, `attempt ${job.attempt} runs on all its nodes`, { job: job.id, attempt: job.attempt });
  }

  private finish(id: number): void {
    if (this.random.chance(0.86)) return this.end(id, 'succeeded', 'all ranks exited with code 0', 0);
    const code = failureCodes[id % failureCodes.length]!;
    this.end(id, 'failed', `rank ${id % this.jobs.get(id)!.nodes.length} exited with code ${code}`, code);
  }

  // Of the attempt; the job waits again unless the outcome is final.
  end(id: number, outcome: AttemptState, reason: string, code: number | null = null): void {
    const job = this.jobs.get(id)!;
    const gpus = job.gpus_per_node || 8;
    for (const name of job.nodes) {
      const node = this.byName.get(name)!;
      node.gpus_free += gpus;
      node.jobs = node.jobs.filter((each) => each !== id);
    }
    this.running.delete(id);
    const attempt = this.attempts.get(id)?.[0];
    const lost = outcome === 'suspended' || outcome === 'succeeded' ? 0 : Math.round(this.random.exponential(240)) * job.node_count * gpus;
    if (attempt) {
      Object.assign(attempt, { state: outcome, ended_at: this.time(), end_reason: reason, exit_code: code });
      for (const rank of attempt.ranks) Object.assign(rank, { phase: 'exited', cause: outcome === 'suspended' ? 'suspended' : 'program' });
    }
    job.nodes = [];
    job.run_seconds = Math.floor(timeRun(job, this.now));
    job.running_at = null;
    job.cpu_seconds = job.run_seconds * job.node_count * gpus;
    job.peak_memory_bytes = (20 + (id % 40)) * 2 ** 30;
    job.attempt_state = outcome;
    job.lost_gpu_seconds += lost;
    job.end_reason = reason;
    this.emit('scheduler', 'attempt_ended', `job/${id}`, `attempt ${job.attempt} ended: ${reason}`, { job: id, attempt: job.attempt, outcome, reason, lost_gpu_seconds: lost });
    if (outcome === 'suspended' || outcome === 'lost') {
      job.state = 'suspended';
      if (outcome === 'suspended') job.suspend_count += 1;
      else job.requeue_count += 1;
      job.pending_reason = this.reason(job);
      this.waiting.add(id);
    } else {
      Object.assign(job, { state: outcome as JobState, ended_at: this.time(), exit_code: code });
      this.emit('scheduler', 'job_finished', `job/${id}`, `${outcome}${outcome === 'failed' ? ` with exit code ${code}` : ''}: ${reason}`, { job: id, state: outcome, exit_code: job.exit_code, reason });
    }
  }

  suspend(id: number, reason: string): void {
    const job = this.jobs.get(id)!;
    this.emit('scheduler', 'attempt_suspending', `job/${id}`, `attempt ${job.attempt} is asked to save: ${reason}`, { job: id, attempt: job.attempt, reason });
    job.checkpoint = { step: 1000 * job.attempt + this.random.below(900), path: `${job.workspace}/ckpt-${job.attempt}`, save_seconds: 4, at: this.time() };
    this.end(id, 'suspended', reason);
  }

  private suspendSome(): void {
    const ids = [...this.running.keys()];
    for (let i = 0; i < 4 && ids.length > 0; i += 1) {
      const job = this.jobs.get(this.random.pick(ids))!;
      if (job.state === 'running') this.suspend(job.id, `its quantum is used up and a job of another user waits`);
    }
  }

  closeIncident(id: number, reason: string): void {
    const incident = this.incidents.find((each) => each.id === id);
    if (!incident) return;
    Object.assign(incident, { closed_at: this.time(), close_reason: reason });
    this.emit('ann', 'incident_closed', '', `closed: ${reason}`, {});
  }

  private pastIncidents(): void {
    const past: [kind: string, subject: string, hours: number, minutes: number, summary: string, end: string][] = [
      ['node_fault', 'node/fire-0311', 3, 42, 'gpu-5: Xid 79: GPU has fallen off the bus; drained, repaired and validated', 'the node is open again'],
      ['mass_loss', 'leaf/A/leaf-12', 26, 6, '20 nodes fell silent within 2s', 'all 20 nodes are back, with their jobs'],
      ['store_unavailable', 'cluster', 71, 2, 'the database does not answer: nothing is decided', 'the database is back'],
    ];
    past.forEach(([kind, subject, hours, minutes, summary, close_reason], i) => {
      const opened = this.now - hours * 3_600_000;
      const time = (at: number): string => new Date(at).toISOString();
      this.incidents.push({ id: i + 2, kind, subject, summary, close_reason, nodes: [], opened_at: time(opened), closed_at: time(opened + minutes * 60_000), notes: [] });
    });
  }

  // As the server says it: the reason is of the moment that the event tells of.
  private silence(node: Node, liveness: 'down' | 'suspect'): void {
    const reason = `silent for ${liveness === 'down' ? '40s' : '10s'}`;
    Object.assign(node, { liveness, reason, health: 'unknown' });
    this.emit('server', 'node_liveness_changed', `node/${node.name}`, `${liveness}: ${reason}`, { liveness, reason });
  }

  private breakSomething(): void {
    const reasons = ['Xid 79: GPU has fallen off the bus', 'InfiniBand port flaps', 'replace DIMM B2', 'validate after Xid 48'];
    for (let i = 0; i < 14; i += 1) {
      const isSilent = i < 3; // together, on one leaf
      const node = this.random.pick(this.nodes.filter((each) => (isSilent ? each.leaf === lostLeaf && each.liveness === 'up' : each.jobs.every((id) => this.jobs.get(id)!.node_count <= 4))));
      for (const id of [...node.jobs]) this.end(id, 'lost', `node ${node.name} was lost`);
      if (i < 4) this.silence(node, i < 3 ? 'down' : 'suspect');
      else Object.assign(node, { scheduling: this.random.pick(['drained', 'cordoned', 'draining']), reason: this.random.pick(reasons), reason_by: 'ops', health: i < 9 ? 'fail' : 'warn' });
      const isGpu = node.reason?.startsWith('Xid') ?? false;
      const check: NodeCheck = {
        name: isGpu ? 'gpu_xid' : 'ib_link', subject: isGpu ? 'gpu-3' : 'mlx5_0', state: node.health, tier: node.health === 'fail' ? 'drain' : 'log', text: node.reason ?? '', at: this.time(), done: node.health === 'fail' ? 'drain' : null,
        evidence: isGpu ? `NVRM: Xid (PCI:0000:4b:00): ${node.reason}` : null,
      };
      if (node.health === 'unknown') continue;
      node.checks = [check, ...node.checks];
      this.emit(`agent:${node.name}`, 'node_check_changed', `node/${node.name}`, `${check.name} ${check.subject} is ${node.health}: ${node.reason}`, {});
    }
    this.open.clear();
    const down = this.nodes.filter((node) => node.liveness === 'down').map((node) => node.name);
    this.incidents.push({
      id: 1, kind: 'mass_loss', subject: 'cluster', opened_at: new Date(this.now - 540_000).toISOString(), closed_at: null, close_reason: null, nodes: down, notes: [],
      summary: `${down.length} of the nodes that fell silent at once (${formatHosts(down)}) have surely ended their ranks and are down: their jobs run elsewhere; this ends when they are back, removed with \`hai node remove\`, or given up with \`hai incident close\``,
    });
    this.emit('server', 'incident_opened', '', this.incidents[0]!.summary, {});
  }
}
