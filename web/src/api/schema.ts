// Made by scripts/types.mjs from schemas/openapi.yaml.

export const jobStateWords = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'stopped'] as const;
export type JobState = (typeof jobStateWords)[number];

export const attemptStateWords = ['placed', 'starting', 'running', 'suspending', 'suspended', 'succeeded', 'failed', 'stopped', 'lost'] as const;
export type AttemptState = (typeof attemptStateWords)[number];

export const priorityWords = ['extreme_high', 'very_high', 'high', 'above_normal', 'normal', 'under_normal', 'below_normal', 'low', 'auto'] as const;
export type Priority = (typeof priorityWords)[number];

export const pendingCodeWords = ['held', 'begin_time', 'dependency', 'dependency_failed', 'user_inactive', 'quota', 'resources', 'preempting', 'starting', 'recovering', 'not_considered'] as const;
export type PendingCode = (typeof pendingCodeWords)[number];

export const livenessWords = ['up', 'suspect', 'down'] as const;
export type Liveness = (typeof livenessWords)[number];

export const schedulingWords = ['open', 'cordoned', 'draining', 'drained'] as const;
export type Scheduling = (typeof schedulingWords)[number];

export const healthWords = ['ok', 'warn', 'fail', 'unknown'] as const;
export type Health = (typeof healthWords)[number];

export const roleWords = ['user', 'operator', 'admin'] as const;
export type Role = (typeof roleWords)[number];

export const jobVerbWords = ['stop', 'suspend', 'resume', 'hold', 'release'] as const;
export type JobVerb = (typeof jobVerbWords)[number];

export const nodeVerbWords = ['cordon', 'drain', 'undrain', 'fence', 'validate'] as const;
export type NodeVerb = (typeof nodeVerbWords)[number];

export type Time = string;

export interface Problem {
  type: string;
  title: string; // a stable word
  status: number;
  detail: string; // for people
  errors?: SpecError[]; // of a job file
}

export interface SpecError {
  line: number | null;
  path: string;
  message: string;
}

export interface Version {
  version: string;
}

export interface Digest {
  seq: number;
  digest: string;
}

export interface PendingReason {
  code: PendingCode;
  text: string;
}

export interface Checkpoint {
  step: number;
  path: string;
  save_seconds: number;
  at: Time;
}

export interface JobCheckpoint {
  attempt: number;
  step: number;
  path: string;
  save_seconds: number;
  at: Time;
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
  gpus_per_node: number; // 0 is whole nodes
  submitted_at: Time;
  started_at: Time | null;
  ended_at: Time | null;
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
  whole_life_state: string | null;
  workspace: string;
  entrypoint: string;
  parameters: string;
}

export interface JobPage {
  jobs: Job[];
  next_cursor: string | null;
  total?: number;
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
  placed_at: Time;
  running_at: Time | null;
  ended_at: Time | null;
  end_reason: string | null;
  exit_code: number | null;
  ranks: Rank[];
}

export interface AttemptPage {
  attempts: Attempt[];
  next_cursor: null;
}

export interface CheckpointPage {
  checkpoints: JobCheckpoint[];
  next_cursor: string | null;
}

export interface ProgressPoint {
  at: Time;
  step: number;
}

export interface Progress {
  points: ProgressPoint[];
}

export interface Validation {
  valid: true;
  spec: string; // the job file with its defaults written out
}

export interface ActionResult {
  name: string;
  job_id: number | null;
  code: string; // ok or why not
  message: string;
}

export interface ActionResults {
  results: ActionResult[];
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
  start_p50: Time | null;
  start_p90: Time | null;
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

export interface NodeCheck {
  name?: string;
  verdict?: Health;
  state?: Health;
  subject?: string;
  tier?: string;
  evidence?: string | null;
  done?: string | null; // what was done about it
  text?: string;
  summary?: string;
  at?: Time;
}

export interface NodeStay {
  id: number;
  name: string;
  user: string;
  attempt: number;
  rank: number;
  state: AttemptState;
  placed_at: Time;
  ended_at: Time | null;
  end_reason: string | null;
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
  drain_at: Time | null; // of a cordoned node: the jobs that still run then have to leave
  gpus: number;
  gpus_free: number;
  jobs: number[];
  gpu_jobs: (number | null)[]; // the job on each GPU, or null
  health: Health;
  checks: NodeCheck[];
  address: string;
  cpus: number;
  memory_bytes: number;
  gpu_model: string;
  agent_version: string;
  repair?: NodeRepair | null;
  validation?: NodeValidation;
  lemon_score?: number; // what speaks against it in 28 days
  lemon_text?: string | null;
  gpu_utilization?: (number | null)[]; // percent, per GPU, null where its driver does not say; absent while the agent has no driver to ask
  gpu_temperature?: (number | null)[]; // degrees Celsius, per GPU, null where its driver does not say; absent while the agent has no driver to ask
}

export interface NodeRepair {
  step: 'emptying' | 'validating' | 'repairing' | 'service';
  reason: string;
  since: Time;
  round: number; // repairs that were tried
  job: number | null; // the validation
  incident: number | null;
}

export interface NodeValidation {
  passed_at: Time;
  judged_at: Time | null;
  passed: boolean;
  text: string | null;
  measured: {
    name: string;
    unit: string;
    value: number;
  }[];
}

export interface NodePage {
  nodes: Node[];
  next_cursor: string | null;
}

export interface GpuCounts {
  total: number;
  used: number;
  free: number;
  reserved: number; // unused but promised to a job whose victims are leaving
  draining: number; // unused on closed nodes that are up
  broken: number; // unused on nodes that are not up
}

export interface JobSums {
  jobs: number;
  nodes: number;
  gpus: number;
}

export type SumsByWord = Partial<Record<string, JobSums>>;

export type Counts = Partial<Record<string, number>>;

export interface RunningSums {
  by_user: SumsByWord;
  by_group: SumsByWord;
  by_priority: SumsByWord;
}

export interface WaitingSums {
  by_reason: SumsByWord;
  by_user: SumsByWord;
  by_group: SumsByWord;
  by_priority: SumsByWord;
}

export interface NodeCounts {
  liveness: Counts;
  scheduling: Counts;
}

export interface Cluster {
  name: string;
  version: string;
  epoch: number;
  gpus: GpuCounts;
  nodes: NodeCounts;
  jobs: Counts;
  last_seq: number; // of the newest event
  running: RunningSums;
  waiting: WaitingSums;
  counted_at: Time;
}

export interface Series {
  step_seconds: number;
  at: Time[];
  gpus_total: number[];
  gpus_used: number[];
  gpus_free: number[];
  gpus_reserved: number[];
  gpus_draining: number[];
  gpus_broken: number[];
  jobs_running: number[];
  jobs_queued: number[];
  jobs_suspended: number[];
}

export interface Incident {
  id: number;
  kind: string;
  subject: string;
  summary: string;
  opened_at: Time;
  closed_at: Time | null;
  close_reason: string | null;
  nodes: string[];
  notes?: {
    at: Time;
    text: string;
  }[]; // what was seen, decided and done
}

export interface IncidentPage {
  incidents: Incident[];
  next_cursor: string | null;
}

export interface ClusterEvent {
  seq: number;
  time: Time;
  actor: string;
  kind: string;
  subject: string;
  text: string;
  body: Record<string, unknown>;
}

export interface EventPage {
  events: ClusterEvent[];
  next_cursor: number | null; // after or before of the next page
}

export interface Quota {
  owner: string;
  group: string;
  priority: Priority | '*';
  nodes: number | null; // no limit if null
  nodes_used: number;
}

export interface QuotaPage {
  quotas: Quota[];
  next_cursor: null;
}

export interface User {
  name: string;
  role: Role;
  groups: string[];
  active: boolean;
}

export interface UserPage {
  users: User[];
  next_cursor: null;
}

export interface WhoAmI {
  user: string;
  role: Role;
  groups: string[];
  cluster: string;
  quotas: Quota[];
}

export interface Token {
  id: string;
  user: string;
  label: string;
  created_at: Time;
}

export interface NewToken {
  id: string;
  user: string;
  label: string;
  created_at: Time;
  secret: string;
}

export interface TokenPage {
  tokens: Token[];
  next_cursor: null;
}
