import type { Attempt, ClusterEvent, Job, Node } from '../src/api/types';

// Whole values with what a test does not care about filled in.
export const t0 = Date.parse('2026-11-20T12:00:00.000Z');
export const at = (seconds: number): string => new Date(t0 + seconds * 1000).toISOString();

export function job(part: Partial<Job> = {}): Job {
  return {
    id: 1, name: 'j1', user: 'ann', group: 'training', priority: 'normal', state: 'queued', held: false, node_count: 1,
    gpus_per_node: 0, submitted_at: at(0), started_at: null, ended_at: null, attempt: 0, pending_reason: null, exit_code: null,
    nodes: [], suspend_count: 0, requeue_count: 0, lost_gpu_seconds: 0, run_seconds: 0, cpu_seconds: null, peak_memory_bytes: null, running_at: null, attempt_state: null, end_reason: null, zone: null,
    tags: [], array_task: null, array: null, services: [], checkpoint: null, progress_step: null, whole_life_state: null, workspace: '/w', entrypoint: 'a.py', parameters: '',
    ...part,
  };
}

export function node(part: Partial<Node> = {}): Node {
  return {
    name: 'n1', group: 'training', zone: 'A', leaf: 'leaf-1', liveness: 'up', scheduling: 'open', reason: null, reason_by: null, drain_at: null,
    gpus: 8, gpus_free: 8, jobs: [], gpu_jobs: [], health: 'ok', checks: [], repair: null,
    validation: { passed_at: null, judged_at: null, passed: false, text: null, measured: [] }, lemon_score: 0, lemon_text: null, marks: [], address: '', cpus: 1, memory_bytes: 1, cpus_free: 0, memory_free_bytes: 0, gpu_model: 'x', labels: [],
    set: [],
    agent_version: '1', ...part,
  };
}

export function attempt(part: Partial<Attempt> = {}): Attempt {
  return {
    job_id: 1, attempt: 1, state: 'running', placed_at: at(0), running_at: at(1), ended_at: null, end_reason: null,
    exit_code: null, ranks: [], ...part,
  };
}

let seq = 0;
export function event(kind: string, subject: string, seconds: number, body: Record<string, unknown> = {}): ClusterEvent {
  seq += 1;
  return { seq, time: at(seconds), actor: 'scheduler', kind, subject, text: '', body };
}
