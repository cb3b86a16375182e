// The server's JSON: the types of schemas/openapi.json (schema.ts), under the names the pages use.
// What a server may leave out is optional there, and every page says so instead of inventing a value.
export {
  attemptStateWords as attemptStates, jobStateWords as jobStates, pendingCodeWords as pendingCodes, priorityWords as priorities, roleWords as roles,
} from './schema';
export type {
  Attempt, AttemptState, BlockingFact, Checkpoint, Cluster, ClusterSeries as Series, ControlResult as ActionResult, CreateTokenReply as NewToken,
  Event as ClusterEvent, Health, Incident, Job, JobCheckpoint, JobDifference as Difference, JobState, JobSums, JobVerb, ListEventsReply as EventPage,
  ListJobsReply as JobPage, ListNodesReply as NodePage, Liveness, Node, NodeCheck, NodeStay, NodeVerb, PendingReason, Priority, ProgressPoint, Quota,
  RankInfo as Rank, RepairStep, Role, Scheduling, SpecError, Token, User, WhatIfReply as WhatIf, WhoAmIReply as WhoAmI, WhyJobReply as Why,
} from './schema';

import type { Cluster } from './schema';

export type SumsByWord = Cluster['running']['by_user'];
