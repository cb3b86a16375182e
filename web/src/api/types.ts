// The server's JSON, field for field (server/http/json.cpp). Fields that the server does not send yet
// are optional, and every page says so instead of inventing a value.

export const jobStates = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'stopped'] as const;
export type JobState = (typeof jobStates)[number];

export const priorities = [
  'extreme_high',
  'very_high',
  'high',
  'above_normal',
  'normal',
  'under_normal',
  'below_normal',
  'low',
  'auto',
] as const;
export type Priority = (typeof priorities)[number];

export const attemptStates = [
  'placed',
  'starting',
  'running',
  'suspending',
  'suspended',
  'succeeded',
  'failed',
  'stopped',
  'lost',
] as const;
export type AttemptState = (typeof attemptStates)[number];

export type Liveness = 'up' | 'suspect' | 'down';
export type Scheduling = 'open' | 'cordoned' | 'draining' | 'drained';
export type Health = 'ok' | 'warn' | 'fail' | 'unknown';

export interface PendingReason {
  code: string;
  text: string;
}

export interface Checkpoint {
  step: number;
  path: string;
  save_seconds: number;
  at: string;
}

export interface Job {
  id: number;
  name: string;
  user: string;
  group: string;
  priority: Priority;
  state: JobState;
  held: boolean;
  node_count: number;
  gpus_per_node: number; // 0: whole nodes
  submitted_at: string;
  started_at: string | null;
  ended_at: string | null;
  attempt: number;
  pending_reason: PendingReason | null;
  exit_code: number | null;
  nodes: string[];
  suspend_count: number;
  requeue_count: number;
  lost_gpu_seconds: number;
  attempt_state: AttemptState | null;
  end_reason: string | null;
  zone: string | null;
  tags: string[];
  checkpoint: Checkpoint | null;
  progress_step: number | null;
  whole_life_state: number | string | null;
  workspace: string;
  entrypoint: string;
  parameters: string;
}

export interface Rank {
  rank: number;
  node: string;
  gpus: number[];
  phase: string;
  cause: string;
  exit_code: number | null;
  message: string;
}

export interface Attempt {
  job_id: number;
  attempt: number;
  state: AttemptState;
  placed_at: string;
  running_at: string | null;
  ended_at: string | null;
  end_reason: string | null;
  exit_code: number | null;
  ranks: Rank[];
}

export interface NodeCheck {
  name: string;
  state?: Health;
  verdict?: Health;
  subject?: string;
  tier?: string;
  text?: string;
  summary?: string;
  at?: string;
}

export interface Node {
  name: string;
  group: string;
  zone: string;
  leaf: string;
  liveness: Liveness;
  scheduling: Scheduling;
  reason: string | null;
  reason_by: string | null;
  gpus: number;
  gpus_free: number;
  jobs: number[];
  health: Health;
  checks: NodeCheck[];
  address: string;
  cpus: number;
  memory_bytes: number;
  gpu_model: string;
  agent_version: string;
  gpu_utilization?: number[]; // percent, per GPU
  gpu_temperature?: number[]; // degrees Celsius, per GPU
}

export interface Cluster {
  name: string;
  version: string;
  epoch: number;
  gpus: { total: number; used: number; free: number; draining: number; broken: number; reserved?: number };
  nodes: {
    liveness: Partial<Record<Liveness, number>>;
    scheduling: Partial<Record<Scheduling, number>>;
  };
  jobs: Partial<Record<JobState, number>>;
  last_seq: number;
}

export interface ClusterEvent {
  seq: number;
  time: string;
  actor: string;
  kind: string;
  subject: string;
  text: string;
  body: Record<string, unknown>;
}

export interface Incident {
  id: number;
  kind: string;
  subject: string;
  summary: string;
  opened_at: string;
  nodes: string[];
}

export interface Quota {
  owner: string;
  group: string;
  priority: Priority | '*';
  nodes: number | null; // null: no limit
  nodes_used: number;
}

export interface User {
  name: string;
  role: string;
  groups: string[];
  active: boolean;
}

export interface WhoAmI {
  user: string;
  role: string;
  groups: string[];
  cluster: string;
  quotas: Quota[];
}

export interface BlockingFact {
  code: string;
  text: string;
  holders: string[];
}

export interface Why {
  id: number;
  name: string;
  state: JobState;
  held: boolean;
  pending_reason: PendingReason | null;
  facts: BlockingFact[];
  start_p50: string | null;
  start_p90: string | null;
  estimate_note: string | null;
}

export interface Difference {
  id: number;
  name: string;
  user: string;
  priority: Priority;
  effect: 'starts' | 'suspended' | 'waits' | 'moves' | 'keeps_running';
  text: string;
  nodes: string[];
  nodes_before: string[];
}

export interface WhatIf {
  change: string;
  differences: Difference[];
  differences_left_out: number;
  job: Why | null;
}

export type JobVerb = 'stop' | 'suspend' | 'resume' | 'hold' | 'release';
export type NodeVerb = 'cordon' | 'drain' | 'undrain' | 'fence';

export interface JobPage {
  jobs: Job[];
  next_cursor: string | null;
}
export interface NodePage {
  nodes: Node[];
  next_cursor: string | null;
}
export interface EventPage {
  events: ClusterEvent[];
  next_cursor: number | null;
}
