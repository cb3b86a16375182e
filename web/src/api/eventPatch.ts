import { timeRun } from '../lib/timeRun';
import type { AttemptState, Checkpoint, ClusterEvent, Job, JobState, Liveness, Node, Priority, Scheduling } from './types';

// What an event says about a job or a node, applied to what the page already shows, at once. What an
// event does not say (pending reasons, GPUs free) is asked for again soon after.

function subjectOf(event: ClusterEvent): { kind: string; name: string } {
  const slash = event.subject.indexOf('/');
  if (slash < 0) return { kind: '', name: '' };
  return { kind: event.subject.slice(0, slash), name: event.subject.slice(slash + 1) };
}

export function patchJob(job: Job, event: ClusterEvent): Job {
  const { body } = event;
  switch (event.kind) {
    case 'job_held':
      return { ...job, held: true };
    case 'job_released':
      return { ...job, held: false };
    case 'job_priority_changed':
      return { ...job, priority: body.priority as Priority };
    case 'job_edited':
      return {
        ...job,
        tags: Array.isArray(body.tags) ? body.tags.map(String) : job.tags,
        node_count: typeof body.node_count === 'number' ? body.node_count : job.node_count,
      };
    case 'attempt_placed':
      return startAttempt(job, event);
    case 'attempt_starting':
      return { ...job, attempt_state: 'starting' };
    case 'attempt_running':
      return { ...job, attempt_state: 'running', running_at: event.time };
    case 'attempt_continued':
      return { ...job, attempt_state: 'running' };
    case 'attempt_suspending':
      return { ...job, attempt_state: 'suspending', end_reason: String(body.reason ?? '') || null };
    case 'attempt_ended':
      return endAttempt(job, event);
    case 'job_requeued':
      return { ...job, requeue_count: job.requeue_count + 1 };
    case 'checkpoint_reported':
      return { ...job, checkpoint: body.checkpoint as Checkpoint };
    case 'job_finished':
      return {
        ...job,
        state: body.state as JobState,
        exit_code: typeof body.exit_code === 'number' ? body.exit_code : null,
        end_reason: String(body.reason ?? '') || job.end_reason,
        ended_at: event.time,
        pending_reason: null,
        nodes: [],
      };
    default:
      return job;
  }
}

function startAttempt(job: Job, event: ClusterEvent): Job {
  return {
    ...job,
    state: 'running',
    attempt: Number(event.body.attempt),
    attempt_state: 'placed',
    started_at: job.started_at ?? event.time,
    pending_reason: null,
  };
}

function endAttempt(job: Job, event: ClusterEvent): Job {
  const outcome = event.body.outcome as AttemptState;
  const waitsAgain = outcome === 'suspended' || outcome === 'lost';
  return {
    ...job,
    attempt_state: outcome,
    state: waitsAgain ? 'suspended' : job.state,
    nodes: [],
    suspend_count: job.suspend_count + (outcome === 'suspended' ? 1 : 0),
    lost_gpu_seconds: job.lost_gpu_seconds + Number(event.body.lost_gpu_seconds ?? 0),
    run_seconds: Math.floor(timeRun(job, Date.parse(event.time))),
    running_at: null,
  };
}

export function patchNode(node: Node, event: ClusterEvent): Node {
  const reason = String(event.body.reason ?? '') || null;
  switch (event.kind) {
    case 'node_liveness_changed':
      return { ...node, liveness: event.body.liveness as Liveness, reason: reason ?? node.reason };
    case 'node_scheduling_changed': {
      const scheduling = event.body.scheduling as Scheduling;
      const by = String(event.body.by ?? '') || null;
      const drain_at = typeof event.body.drain_at === 'string' ? event.body.drain_at : null;
      return { ...node, scheduling, reason: scheduling === 'open' ? null : reason, reason_by: by, drain_at };
    }
    default:
      return node;
  }
}

interface Patches {
  jobs: Map<number, ClusterEvent[]>;
  nodes: Map<string, ClusterEvent[]>;
  hasNewJobs: boolean;
  touches: Set<'cluster' | 'incidents' | 'quotas' | 'users'>;
}

// A batch of events, sorted by whom they concern.
export function collectPatches(events: readonly ClusterEvent[]): Patches {
  const patches: Patches = { jobs: new Map(), nodes: new Map(), hasNewJobs: false, touches: new Set() };
  for (const event of events) {
    const { kind, name } = subjectOf(event);
    if (kind === 'job') add(patches.jobs, Number(name), event);
    if (kind === 'node') add(patches.nodes, name, event);
    if (kind === 'job' || kind === 'node') patches.touches.add('cluster');
    if (event.kind === 'job_submitted') patches.hasNewJobs = true;
    if (event.kind.startsWith('incident_')) patches.touches.add('incidents');
    if (event.kind.startsWith('quota_')) patches.touches.add('quotas');
    if (event.kind.startsWith('user_')) patches.touches.add('users');
  }
  return patches;
}

function add<K>(map: Map<K, ClusterEvent[]>, key: K, event: ClusterEvent): void {
  const list = map.get(key);
  if (list) list.push(event);
  else map.set(key, [event]);
}
