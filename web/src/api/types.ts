// The server's JSON: the types of schemas/openapi.yaml (schema.ts), under the names the pages use.
// What a server may leave out is optional there, and every page says so instead of inventing a value.
export {
  attemptStateWords as attemptStates, jobStateWords as jobStates, pendingCodeWords as pendingCodes, priorityWords as priorities, roleWords as roles,
} from './schema';
export type {
  ActionResult, Attempt, AttemptState, BlockingFact, Checkpoint, Cluster, ClusterEvent, Difference, EventPage, Health, Incident, Job,
  JobCheckpoint, JobPage, JobState, JobSums, JobVerb, Liveness, NewToken, Node, NodeCheck, NodePage, NodeStay, NodeVerb, PendingReason, Priority,
  ProgressPoint, Quota, Rank, Role, Scheduling, Series, SpecError, SumsByWord, Token, User, WhatIf, WhoAmI, Why,
} from './schema';
