import { send } from './client';
import type { Job, JobVerb, Node, NodeVerb, Priority, Quota, WhatIf } from './types';

const withReason = (reason: string): { reason: string } | undefined => (reason === '' ? undefined : { reason });

export const controlJob = (id: number, verb: JobVerb, reason = ''): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/${verb}`, withReason(reason));

export const setPriority = (id: number, priority: Priority): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/priority`, { priority });

export const moveJob = (id: number, to: 'first' | 'last'): Promise<Job> =>
  send<Job>('POST', `/jobs/${id}/move`, { [to]: true });

export const controlNode = (name: string, verb: NodeVerb, reason = ''): Promise<Node> =>
  send<Node>('POST', `/nodes/${encodeURIComponent(name)}/${verb}`, withReason(reason));

// The same key again gives the same job again, so a lost answer can be asked for twice.
export const submitJob = (yaml: string, requestId: string): Promise<Job> =>
  send<Job>('POST', '/jobs', yaml, { 'Content-Type': 'application/yaml', 'Idempotency-Key': requestId });

export const whatIfSubmit = (yaml: string): Promise<WhatIf> => send<WhatIf>('POST', '/whatif', { submit: yaml });

export const whatIfDrain = (nodes: string[]): Promise<WhatIf> => send<WhatIf>('POST', '/whatif', { drain: nodes });

export const whatIfPriority = (job: number, priority: Priority): Promise<WhatIf> =>
  send<WhatIf>('POST', '/whatif', { priority: { job, priority } });

export const whatIfQuota = (quota: Pick<Quota, 'owner' | 'group' | 'priority' | 'nodes'>): Promise<WhatIf> =>
  send<WhatIf>('POST', '/whatif', { quota });

export const setQuota = (quota: Pick<Quota, 'owner' | 'group' | 'priority' | 'nodes'>): Promise<Quota> =>
  send<Quota>('PUT', `/quotas/${[quota.owner, quota.group, quota.priority].map(encodeURIComponent).join('/')}`, {
    nodes: quota.nodes,
  });
