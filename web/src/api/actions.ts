import { inquire, send } from './client';
import type { ActionResult, Job, JobVerb, Knob, NewToken, NodeVerb, Priority, Quota, TokenScope, User, WhatIf } from './types';

const withReason = (reason: string): { reason: string } | undefined => (reason === '' ? undefined : { reason });

export const controlJob = (id: number, verb: JobVerb, reason = ''): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/${verb}`, withReason(reason));

export const controlJobs = async (ids: readonly number[], verb: JobVerb, reason = ''): Promise<ActionResult[]> =>
  (await send<{ results: ActionResult[] }>('POST', '/jobs/actions', { verb, jobs: ids, ...withReason(reason) })).results;

export const setPriority = (id: number, priority: Priority): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/priority`, { priority });

export const moveJob = (id: number, to: 'first' | 'last'): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/move`, { [to]: true });

// Up to a thousand nodes, each with its own result. A deadline is of drain only.
export const controlNodes = async (nodes: readonly string[], verb: NodeVerb, reason: string, deadline: Date | null): Promise<ActionResult[]> => {
  const until = deadline ? { deadline: deadline.toISOString() } : {};
  return (await send<{ results: ActionResult[] }>('POST', '/nodes/actions', { verb, nodes, ...withReason(reason), ...until })).results;
};

export const closeIncident = (id: number, reason: string): Promise<null> =>
  send<null>('POST', `/incidents/${id}/close`, withReason(reason));

// The same key again gives the same job again, so a lost answer can be asked for twice.
export const submitJob = (yaml: string, requestId: string): Promise<Job> =>
  send<Job>('POST', '/jobs', yaml, { 'Content-Type': 'application/yaml', 'Idempotency-Key': requestId });

export const whatIfSubmit = (yaml: string): Promise<WhatIf> => inquire<WhatIf>('/whatif', { submit: yaml });

export const whatIfDrain = (nodes: string[]): Promise<WhatIf> => inquire<WhatIf>('/whatif', { drain: nodes });

export const whatIfQuota = (quota: Pick<Quota, 'owner' | 'group' | 'priority' | 'nodes'>): Promise<WhatIf> =>
  inquire<WhatIf>('/whatif', { quota });

const quotaPath = (quota: Pick<Quota, 'owner' | 'group' | 'priority'>): string =>
  `/quotas/${[quota.owner, quota.group, quota.priority].map(encodeURIComponent).join('/')}`;

export const setQuota = (quota: Pick<Quota, 'owner' | 'group' | 'priority' | 'nodes'>): Promise<Quota> =>
  send<Quota>('PUT', quotaPath(quota), { nodes: quota.nodes });

export const removeQuota = (quota: Pick<Quota, 'owner' | 'group' | 'priority'>): Promise<null> =>
  send<null>('DELETE', quotaPath(quota));

export const setUser = (name: string, part: Partial<Pick<User, 'role' | 'active' | 'groups'>>): Promise<User> =>
  send<User>('PUT', `/users/${encodeURIComponent(name)}`, part);

export const whatIfUser = (name: string, part: Partial<Pick<User, 'role' | 'active' | 'groups'>>): Promise<WhatIf> =>
  inquire<WhatIf>('/whatif', { user: { name, ...part } });

// user '' = oneself; ttl '' = as long as the cluster says.
export const createToken = (user: string, label: string, limits: { ttl?: string; scope?: TokenScope } = {}): Promise<NewToken> =>
  send<NewToken>('POST', '/tokens', { user, label, ...limits });

export const revokeToken = (id: string): Promise<null> => send<null>('DELETE', `/tokens/${encodeURIComponent(id)}`);

export const whatIfKnob = (name: string, value: string): Promise<WhatIf> => inquire<WhatIf>('/whatif', { knob: { name, value } });

export const setKnob = (name: string, value: string, reason: string): Promise<Knob> =>
  send<Knob>('PUT', `/knobs/${encodeURIComponent(name)}`, { value, ...withReason(reason) });

export const unsetKnob = (name: string, reason: string): Promise<Knob> =>
  send<Knob>('DELETE', `/knobs/${encodeURIComponent(name)}${reason === '' ? '' : `?reason=${encodeURIComponent(reason)}`}`);
