// The server's JSON: the types of schemas/openapi.json (schema.ts), under the names the pages use.
// What a server may leave out is optional there, and every page says so instead of inventing a value.
export {
  attemptStateWords as attemptStates, jobStateWords as jobStates, pendingCodeWords as pendingCodes, priorityWords as priorities, roleWords as roles,
} from './schema';
export type {
  Attempt, AttemptState, AuditEntry, BlockingFact, Checkpoint, Cluster, ClusterSeries as Series, ControlResult as ActionResult, CreateTokenReply as NewToken,
  Event as ClusterEvent, Health, HistoryReport, Incident, ListIncidentsReply as IncidentPage, Job, JobCheckpoint, JobDifference as Difference, JobState, JobSums, JobUsage, JobVerb, Knob, ListEventsReply as EventPage,
  ListJobsReply as JobPage, LogLine, ListNodesReply as NodePage, Liveness, Node, NodeCheck, NodeStay, NodeVerb, PendingReason, Priority, ProgressPoint, Queue, QueueBlock, QueueEntry, Quota,
  RankInfo as Rank, RankUsage, RepairStep, Role, Scheduling, SearchLogReply, SpecError, Token, TokenScope, UnreadLog, User, WhatIfReply as WhatIf, WhoAmIReply as WhoAmI, WhyJobReply as Why,
} from './schema';

import type { Cluster } from './schema';

export type SumsByWord = Cluster['running']['by_user'];
