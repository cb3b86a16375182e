// Made by scripts/types.mjs from schemas/openapi.json.

export const incidentStateWords = ['open', 'closed'] as const;
export type IncidentState = (typeof incidentStateWords)[number];

export type QuotaPriority = Priority | '*';

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

export const jobStateWords = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'stopped'] as const;
export type JobState = (typeof jobStateWords)[number];

export const attemptStateWords = ['placed', 'starting', 'running', 'suspending', 'suspended', 'succeeded', 'failed', 'stopped', 'lost'] as const;
export type AttemptState = (typeof attemptStateWords)[number];

export const priorityWords = ['extreme_high', 'very_high', 'high', 'above_normal', 'normal', 'under_normal', 'below_normal', 'low', 'auto'] as const;
export type Priority = (typeof priorityWords)[number];

export const pendingCodeWords = ['held', 'begin_time', 'backoff', 'dependency', 'dependency_failed', 'user_inactive', 'array', 'quota', 'resources', 'preempting', 'starting', 'recovering', 'not_considered'] as const;
export type PendingCode = (typeof pendingCodeWords)[number];

export const livenessWords = ['up', 'suspect', 'down'] as const;
export type Liveness = (typeof livenessWords)[number];

export const schedulingWords = ['open', 'cordoned', 'draining', 'drained'] as const;
export type Scheduling = (typeof schedulingWords)[number];

export const healthWords = ['ok', 'warn', 'fail', 'unknown'] as const;
export type Health = (typeof healthWords)[number];

export const roleWords = ['user', 'operator', 'admin'] as const;
export type Role = (typeof roleWords)[number];

export const tokenScopeWords = ['read', 'submit', 'operate', 'admin'] as const;
export type TokenScope = (typeof tokenScopeWords)[number];

export const repairStepWords = ['emptying', 'validating', 'repairing', 'bisecting', 'service'] as const;
export type RepairStep = (typeof repairStepWords)[number];

export const serviceProtocolWords = ['http', 'tcp'] as const;
export type ServiceProtocol = (typeof serviceProtocolWords)[number];

export const effectWords = ['starts', 'suspended', 'waits', 'moves', 'keeps_running'] as const;
export type Effect = (typeof effectWords)[number];

export const jobVerbWords = ['stop', 'suspend', 'resume', 'hold', 'release', 'requeue'] as const;
export type JobVerb = (typeof jobVerbWords)[number];

export const nodeVerbWords = ['cordon', 'drain', 'undrain', 'fence', 'validate', 'remove', 'set'] as const;
export type NodeVerb = (typeof nodeVerbWords)[number];

export interface BeginSignInReply {
  methods: string[]; // token, munge, oidc
  provider: string; // the identity provider's name for the button; "" = none
  device_code?: string;
  user_code?: string;
  verification_uri?: string;
  interval_seconds?: number;
  expires_at?: Time;
}

export interface Cluster {
  name: string;
  version: string;
  epoch: number;
  leader: string; // address of the leading server
  started_at: Time;
  gpus: {
    total: number;
    used: number;
    free: number;
    reserved: number; // Unused, but promised to a job whose victims are leaving.
    draining: number; // Unused otherwise, on closed nodes that are up.
    broken: number; // Unused, on nodes that are not up.
  };
  cpus: {
    total: number;
    used: number; // given to jobs
    free: number; // on nodes that take jobs
  };
  memory_bytes: {
    total: number;
    used: number;
    free: number;
  };
  nodes: {
    liveness: Partial<Record<string, number>>;
    scheduling: Partial<Record<string, number>>;
  };
  jobs: Partial<Record<string, number>>; // In memory. An unfinished array is counted as its tasks, also those that are still to come.
  last_seq: number; // of the newest event
  running: {
    by_user: Partial<Record<string, JobSums>>;
    by_group: Partial<Record<string, JobSums>>;
    by_priority: Partial<Record<string, JobSums>>;
  };
  waiting: {
    by_reason: Partial<Record<string, JobSums>>;
    by_user: Partial<Record<string, JobSums>>;
    by_group: Partial<Record<string, JobSums>>;
    by_priority: Partial<Record<string, JobSums>>;
  };
  counted_at: Time;
}

export interface ClusterSeries {
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

export interface ControlJobReply {
  results: ControlResult[]; // in the order of the request
}

export interface ControlNodeReply {
  results: ControlResult[];
}

export interface CreateJoinTokenReply {
  id: string; // names the token; it is not the secret
  nodes: string; // a host list: node-[1-1250]
  user: string; // who made it
  label: string;
  created_at: Time;
  expires_at: Time;
  uses_left: number;
  secret: string;
}

export interface CreateTokenReply {
  id: string; // names the token; it is not the secret
  user: string;
  label: string;
  created_at: Time;
  expires_at: Time | null;
  last_used_at: Time | null; // to the hour
  scope: TokenScope;
  session: boolean; // of somebody who signed in
  secret: string; // shown once, stored only as a hash
}

export interface Digest {
  seq: number; // the last event that it covers
  digest: string;
}

export interface DryRunJobReply {
  valid: boolean; // true: where it is not, the call fails
  spec: string; // the job file with its defaults written out
}

export interface EditJobReply {
  id: number;
  name: string;
  user: string;
  group: string;
  priority: Priority;
  state: JobState;
  held: boolean;
  node_count: number;
  gpus_per_node: number; // 0 = the whole node, -1 = none
  submitted_at: Time;
  started_at: Time | null; // first start of the first attempt
  ended_at: Time | null;
  attempt: number; // latest, 0 = never placed
  pending_reason: PendingReason | null;
  exit_code: number | null;
  nodes: string[]; // of the running attempt, by rank
  suspend_count: number;
  requeue_count: number;
  lost_gpu_seconds: number;
  attempt_state: AttemptState | null;
  end_reason: string | null; // why it ended, for people
  zone: string | null;
  tags: string[];
  checkpoint: Checkpoint | null; // the last one reported
  progress_step: number | null;
  whole_life_state: string | null;
  workspace: string;
  entrypoint: string;
  parameters: string;
  run_seconds: number; // that its ended attempts ran
  running_at: Time | null; // since when the present attempt runs, too
  array_task: ArrayTask | null; // of a task of an array
  array: ArrayJob | null; // of an array
  services: JobService[];
  cpu_seconds: number | null; // of the processes of its ended ranks, in all attempts
  peak_memory_bytes: number | null; // resident, of the largest of those processes
}

export interface HistoryReport {
  step_seconds: number;
  at: Time[];
  total_gpu_seconds: (number | null)[]; // Of all GPUs by what they did, in GPU-seconds of the minutes that were sampled.
  used_gpu_seconds: (number | null)[];
  free_gpu_seconds: (number | null)[];
  reserved_gpu_seconds: (number | null)[];
  draining_gpu_seconds: (number | null)[];
  broken_gpu_seconds: (number | null)[];
  submitted: number[];
  succeeded: number[];
  failed: number[];
  stopped: number[];
  preemptions: number[]; // attempts asked to make room for another job
  faults: number[]; // requeues that were the cluster's fault
  nodes_lost: number[]; // times that a node went down
  checks_failed: number[];
  ended_gpu_seconds: number[]; // that attempts which ended had
  lost_gpu_seconds: number[]; // work that had to be done again
  waits: number[]; // that ended
  wait_p50_seconds: (number | null)[];
  wait_p90_seconds: (number | null)[];
  counted_to: Time | null; // of the last event that is in here
  kept_from: Time | null; // the oldest hour there is
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
  gpus_per_node: number; // 0 = the whole node, -1 = none
  submitted_at: Time;
  started_at: Time | null; // first start of the first attempt
  ended_at: Time | null;
  attempt: number; // latest, 0 = never placed
  pending_reason: PendingReason | null;
  exit_code: number | null;
  nodes: string[]; // of the running attempt, by rank
  suspend_count: number;
  requeue_count: number;
  lost_gpu_seconds: number;
  attempt_state: AttemptState | null;
  end_reason: string | null; // why it ended, for people
  zone: string | null;
  tags: string[];
  checkpoint: Checkpoint | null; // the last one reported
  progress_step: number | null;
  whole_life_state: string | null;
  workspace: string;
  entrypoint: string;
  parameters: string;
  run_seconds: number; // that its ended attempts ran
  running_at: Time | null; // since when the present attempt runs, too
  array_task: ArrayTask | null; // of a task of an array
  array: ArrayJob | null; // of an array
  services: JobService[];
  cpu_seconds: number | null; // of the processes of its ended ranks, in all attempts
  peak_memory_bytes: number | null; // resident, of the largest of those processes
}

export interface JobUsage {
  ranks: RankUsage[]; // those that stand out first
  rank_count: number;
  attempt: number; // 0 = nothing is known
  attempts: number[]; // of which something is known
  at: Time[];
  stragglers: Straggler[]; // of all ranks
  step_seconds: number | null; // for one step, over the times above
  metrics: JobMetric[]; // by name
}

export interface Knob {
  name: string;
  value: string; // in force on the leader: 30s, 2%, 10, or a word
  config_value: string; // what the leader's config says, or the default
  legal: string; // 1s..1h, or the words there are
  may_change: boolean; // while the cluster runs; else only by the configs and restarts
  set_by: string; // Of one that was set: by whom, why, when.
  reason: string;
  set_at: Time | null;
}

export interface ListAttemptsReply {
  attempts: Attempt[]; // newest first
  next_cursor: string | null;
}

export interface ListAuditReply {
  entries: AuditEntry[];
  next_cursor: number | null; // before_seq of the next page; 0 = the last page
}

export interface ListCheckpointsReply {
  checkpoints: JobCheckpoint[];
  next_cursor: string | null;
}

export interface ListEventsReply {
  events: Event[];
  next_cursor: number | null; // after_seq or before_seq of the next page; 0 = the last page
}

export interface ListIncidentsReply {
  incidents: Incident[]; // open ones: all, oldest first; closed ones: newest first
  next_cursor: string | null;
}

export interface ListJobsReply {
  jobs: Job[]; // newest first, unless sorted otherwise
  next_cursor: string | null; // Absent on the last page. A page of finished jobs may be short, or even empty, and not the last.
  total?: number;
}

export interface ListJoinTokensReply {
  tokens: JoinToken[];
  next_cursor: string | null;
}

export interface ListKnobsReply {
  knobs: Knob[];
  next_cursor: string | null;
}

export interface ListNodeIdentitiesReply {
  identities: NodeIdentity[];
  next_cursor: string | null;
}

export interface ListNodeJobsReply {
  jobs: NodeStay[];
}

export interface ListNodesReply {
  nodes: Node[]; // by name
  next_cursor: string | null;
}

export interface ListQuotasReply {
  quotas: Quota[];
  next_cursor: string | null;
}

export interface ListSecretsReply {
  secrets: Secret[];
  next_cursor: string | null;
}

export interface ListTokensReply {
  tokens: Token[];
  next_cursor: string | null;
}

export interface ListUsersReply {
  users: User[];
  next_cursor: string | null;
}

export interface MoveJobReply {
  id: number;
  name: string;
  user: string;
  group: string;
  priority: Priority;
  state: JobState;
  held: boolean;
  node_count: number;
  gpus_per_node: number; // 0 = the whole node, -1 = none
  submitted_at: Time;
  started_at: Time | null; // first start of the first attempt
  ended_at: Time | null;
  attempt: number; // latest, 0 = never placed
  pending_reason: PendingReason | null;
  exit_code: number | null;
  nodes: string[]; // of the running attempt, by rank
  suspend_count: number;
  requeue_count: number;
  lost_gpu_seconds: number;
  attempt_state: AttemptState | null;
  end_reason: string | null; // why it ended, for people
  zone: string | null;
  tags: string[];
  checkpoint: Checkpoint | null; // the last one reported
  progress_step: number | null;
  whole_life_state: string | null;
  workspace: string;
  entrypoint: string;
  parameters: string;
  run_seconds: number; // that its ended attempts ran
  running_at: Time | null; // since when the present attempt runs, too
  array_task: ArrayTask | null; // of a task of an array
  array: ArrayJob | null; // of an array
  services: JobService[];
  cpu_seconds: number | null; // of the processes of its ended ranks, in all attempts
  peak_memory_bytes: number | null; // resident, of the largest of those processes
}

export interface Node {
  name: string;
  group: string;
  zone: string;
  leaf: string;
  liveness: Liveness;
  scheduling: Scheduling;
  reason: string | null; // why it is not open, or not up
  reason_by: string | null; // who set it
  drain_at: Time | null; // Of a cordoned one: when the jobs that still run have to leave.
  gpus: number;
  gpus_free: number;
  jobs: number[];
  gpu_jobs: (number | null)[]; // The job on each GPU; 0, in JSON null, = none.
  health: Health;
  checks: NodeCheck[];
  repair: NodeRepair | null;
  validation: NodeValidation;
  lemon_score: number; // what speaks against it in 28 days
  lemon_text: string | null;
  marks: NodeMark[]; // what speaks against it, oldest first
  address: string;
  cpus: number;
  memory_bytes: number;
  cpus_free: number; // What jobs can still be given of both, of an open node that is up.
  memory_free_bytes: number;
  gpu_model: string;
  agent_version: string;
  labels: string[]; // what jobs may ask for with resource.labels
  set: string[]; // Which of group, zone, leaf and labels an administrator has set in place of what its agent says.
  gpu_utilization?: (number | null)[]; // Percent, by GPU: -1, in JSON null, where its driver does not say; none while its agent has no driver to ask.
  gpu_temperature?: (number | null)[]; // Celsius, likewise.
  gpu_memory?: (number | null)[]; // Percent of its memory that is taken, likewise.
  gpu_power?: (number | null)[]; // Watts, likewise.
}

export interface NodeCertificate {
  certificate: string; // PEM, and its chain
  authorities: string; // PEM: every CA that the cluster believes
  cluster: string;
  grpc_address: string; // of the server that answers
}

export interface NodeIdentity {
  node: string;
  serial: string; // of its latest certificate, hex
  issued_at: Time;
  expires_at: Time;
  revoked_at: Time | null; // nothing issued until then is believed
  joined_with: string; // the id of the join token
}

export interface Progress {
  points: ProgressPoint[];
}

export interface Queue {
  entries: QueueEntry[]; // by node group, in order; last what may not run
  next_cursor: string | null;
  total: number; // entries of all pages
  blocks: QueueBlock[]; // at most 300, the largest ones by themselves
  groups: QueueGroup[];
  at: Time;
  estimated_at: Time | null; // absent: the first look ahead is on its way
  estimate_note: string;
}

export interface Quota {
  owner: string; // a user, a user group, or "public"
  group: string; // node group; "*" = every one
  priority: QuotaPriority;
  nodes: number | null; // -1, in JSON null, = unlimited
  nodes_used: number; // by the caller or, for an own row, the owner
}

export interface SearchLogReply {
  lines: LogLine[];
  unread: UnreadLog[]; // at most 100
  bytes: number; // that this call looked through
  logs_done: number; // of all ranks and attempts asked for; with all calls before
  logs: number;
  next_cursor: string | null;
}

export interface Secret {
  user: string;
  name: string;
  set_at: Time;
  version: number; // how often it was set
}

export interface SubmitJobReply {
  job_id: number;
  name: string;
}

export interface User {
  name: string;
  role: Role;
  groups: string[];
  active: boolean;
}

export interface WhatIfReply {
  change: string; // the change in one sentence
  differences: JobDifference[]; // by job id; at most 1,000
  differences_left_out: number;
  job: WhyJobReply | null; // the job of `submit` or `priority` after the change
}

export interface WhoAmIReply {
  user: string;
  role: Role;
  groups: string[];
  cluster: string;
  quotas: Quota[]; // the ones in force for the caller
  services_url: string; // Below which the services of the caller's jobs are, as https://HOST:PORT; "" = not served
}

export interface WhyJobReply {
  id: number;
  name: string;
  state: JobState;
  held: boolean;
  pending_reason: PendingReason | null; // absent when it does not wait
  facts: BlockingFact[]; // a minimal set: without them it could start now
  start_p50: Time | null; // estimated wall times
  start_p90: Time | null;
  estimate_note: string | null; // how the estimate came about, or why there is none
  jobs_before: number | null; // Waiting jobs of its node group that may run and come first; at most 2,000 are counted.
}

export interface ArrayJob {
  range: string; // "0-499%20"
  tasks: number;
  made: number;
  unfinished: number;
  succeeded: number;
  failed: number;
  stopped: number;
  to_come: string; // the indices of its tasks that are not made yet: "9,11-499"
}

export interface ArrayTask {
  array: number; // the job that it is a task of
  index: number;
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
  ranks: RankInfo[];
}

export interface AuditEntry {
  seq: number;
  at: Time;
  user: string; // "" = nobody known
  token: string; // its id
  address: string; // of the caller
  call: string; // ControlJob, SignIn, agent
  target: string; // job/17, node/node-3, user/ann
  result: string; // ok or the word of the error
  text: string; // the error's text, or the verb
  hash: string; // of this entry and the one before
}

export interface BlockingFact {
  code: string;
  text: string; // what blocks, with the numbers
  holders: string[]; // what holds it: "job/17", "node/node-3", "user/ann"
}

export interface Checkpoint {
  step: number;
  path: string;
  save_seconds: number;
  at: Time;
}

export interface ControlResult {
  name: string; // as asked
  job_id: number | null; // 0 for nodes and unknown jobs
  code: 'ok' | 'cancelled' | 'unknown' | 'invalid_argument' | 'deadline_exceeded' | 'not_found' | 'already_exists' | 'permission_denied' | 'resource_exhausted' | 'failed_precondition' | 'aborted' | 'out_of_range' | 'unimplemented' | 'internal' | 'unavailable' | 'data_loss' | 'unauthenticated';
  message: string;
}

export interface Event {
  seq: number;
  time: Time;
  actor: string;
  kind: string; // past tense: job_submitted, attempt_placed, node_down, ...
  subject: string; // "job/17" or "node/node-1" or "user/ann"
  text: string; // a sentence
  body: Record<string, unknown>; // an object, kind by kind
}

export interface Incident {
  id: number;
  kind: string; // mass_loss, ...
  subject: string; // leaf/A/leaf-3, cluster
  summary: string;
  opened_at: Time;
  closed_at: Time | null;
  close_reason: string | null;
  nodes: string[];
  notes: IncidentNote[]; // oldest first
}

export interface JobCheckpoint {
  attempt: number;
  step: number;
  path: string;
  save_seconds: number;
  at: Time;
}

export interface JobDifference {
  id: number;
  name: string;
  user: string;
  priority: Priority;
  effect: Effect;
  text: string; // one sentence with the reason
  nodes: string[]; // where it runs after the change
  nodes_before: string[]; // where it runs now, or would without the change
}

export interface JobMetric {
  name: string;
  rank: number; // the lowest one that reports any
  at: Time[];
  value: number[];
}

export interface JobService {
  name: string;
  port: number; // at the 127.0.0.1 of its rank
  rank: number;
  protocol: ServiceProtocol;
  path: string | null; // Where it is below services_url of WhoAmI, for the job's owner; of http only.
}

export interface JobSums {
  jobs: number;
  nodes: number;
  gpus: number;
}

export interface JoinToken {
  id: string; // names the token; it is not the secret
  nodes: string; // a host list: node-[1-1250]
  user: string; // who made it
  label: string;
  created_at: Time;
  expires_at: Time;
  uses_left: number;
}

export interface LogLine {
  attempt: number;
  rank: number;
  offset: number; // of the line, in the log of that rank
  at: Time | null;
  text: string; // without the time; of a long line what is around the first match
}

export interface NodeCheck {
  name: string;
  subject: string; // "gpu 3", "mlx5_0/1"; "" = the node
  state: Health;
  tier: string; // log | app | validate | drain | evict
  text: string;
  evidence: string | null; // lines as they were read
  at: Time;
  done: string | null; // what was done about it
}

export interface NodeMark {
  at: Time;
  kind: string;
  job: number | null;
}

export interface NodeRepair {
  step: RepairStep;
  reason: string;
  since: Time;
  round: number; // hooks tried
  job: number | null; // the validation
  incident: number | null;
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

export interface NodeValidation {
  passed_at: Time | null; // the last one it passed
  judged_at: Time | null; // the last one at all, and what it said
  passed: boolean;
  text: string | null;
  measured: NodeMeasure[];
}

export interface PendingReason {
  code: PendingCode;
  text: string;
}

export interface ProgressPoint {
  at: Time;
  step: number;
}

export interface QueueBlock {
  kind: string; // running, leaving, held (for a job), closed
  group: string;
  nodes: number; // whole ones and shares
  id: number | null; // 0 = several jobs, or none
  name: string;
  user: string;
  jobs: number;
  end_p50: Time | null; // When it is expected to be free; of closed nodes absent: nobody knows.
  end_p90: Time | null;
  from: Time | null; // Of nodes that will close: when.
}

export interface QueueEntry {
  id: number;
  name: string;
  user: string;
  group: string;
  priority: Priority;
  state: JobState;
  held: boolean;
  node_count: number;
  gpus_per_node: number; // 0 = the whole node
  pending_reason: PendingReason;
  waiting_since: Time;
  position: number | null; // In the queue of its node group, from 1; absent for a job that may not run (held, dependencies) or has nodes held for it.
  ahead: QueueAhead | null;
  feedback_class: number;
  start_p50: Time | null;
  start_p90: Time | null;
  nodes_held: number; // while others leave them
}

export interface QueueGroup {
  group: string;
  nodes: number;
  waiting: number; // jobs, counted as those of the cluster by state
}

export interface RankUsage {
  rank: number;
  node: string;
  gpu_percent: (number | null)[]; // Mean of its GPUs, percent; -1, in JSON null, where their driver does not say.
  step: (number | null)[]; // The step it last reported; -1, in JSON null, for a rank that reports none.
  gpu_memory_percent: (number | null)[]; // Of the memory of its GPUs, percent that is taken, likewise.
}

export interface Straggler {
  rank: number;
  node: string;
  text: string; // by what, with the numbers
}

export interface Token {
  id: string; // names the token; it is not the secret
  user: string;
  label: string;
  created_at: Time;
  expires_at: Time | null;
  last_used_at: Time | null; // to the hour
  scope: TokenScope;
  session: boolean; // of somebody who signed in
}

export interface UnreadLog {
  attempt: number;
  rank: number;
  reason: string;
}

export interface IncidentNote {
  at: Time;
  text: string;
}

export interface NodeMeasure {
  name: string;
  unit: string;
  value: number;
}

export interface QueueAhead {
  by_priority: number;
  by_class: number;
  by_usage: number;
  by_age: number;
}

export interface RankInfo {
  rank: number;
  node: string;
  gpus: number[];
  phase: string; // pending | running | exited | lost | released
  cause: string; // why it is gone
  exit_code: number | null;
  message: string;
}
