import type { QueryClient } from '@tanstack/react-query';
import { hasLoss } from '../lib/silence';
import { isVisible } from '../lib/visible';
import { get } from './client';
import { extendEventLists } from './eventLists';
import { collectPatches, patchJob, patchNode } from './eventPatch';
import { mergeJobs, patchJobLists } from './jobLists';
import type { ClusterEvent, Job, JobPage, Node } from './types';

// Events change what is shown at once; what they don't say is asked for again, each kind of answer at
// most once per its interval, however many events come.
const refetchMs = 1_000;
const nodesRefetchMs = 3_000; // many nodes in one answer
const nodeKeys = ['nodes', 'nodes-aside'];
// More changed jobs than this at once: the newest page of each list instead of job by job.
const singleFetchesMax = 40;
const pageMax = 1_000;

const dirtyJobs = new Set<number>();
const dirtyKeys = new Map<string, readonly unknown[]>();
const lastFetched = new Map<string, number>();
let timer: ReturnType<typeof setTimeout> | null = null;

export function applyEvents(client: QueryClient, events: readonly ClusterEvent[]): void {
  const patches = collectPatches(events);
  extendEventLists(client, events);
  patchJobLists(client, patches.jobs);
  for (const [id, list] of patches.jobs) {
    client.setQueryData<Job>(['job', String(id)], (job) => job && list.reduce(patchJob, job));
    dirtyJobs.add(id);
    for (const kind of ['job', 'attempts', 'job-events', 'checkpoints', 'why']) mark(client, [kind, String(id)]);
  }
  if (patches.nodes.size > 0) {
    client.setQueryData<Node[]>(['nodes'], (nodes) =>
      nodes?.map((node) => patches.nodes.get(node.name)?.reduce(patchNode, node) ?? node),
    );
  }
  for (const [name, list] of patches.nodes) {
    client.setQueryData<Node>(['node', name], (node) => node && list.reduce(patchNode, node));
  }
  // Which jobs a node has is said by the events of the jobs.
  // The nodes aside are read together with the cluster's sums (lib/capacity.ts), so of the same time.
  if (patches.touches.has('cluster')) for (const kind of ['nodes', 'node', 'nodes-aside']) mark(client, [kind]);
  if (patches.nodes.size > 0) mark(client, ['node-events']);
  for (const key of patches.touches) mark(client, [key]);
  if (hasLoss(events)) dropForecasts(client);
  arm(client);
}

// What was foreseen for one job counted on the nodes that have just fallen silent: it is not shown any more, and asked for
// anew. What was foreseen for the whole queue says of what time it is (useLostSince.ts).
function dropForecasts(client: QueryClient): void {
  const ofOneJob = { queryKey: ['why'], predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.length === 2 };
  for (const query of client.getQueryCache().findAll(ofOneJob)) {
    // What is on its way may have been foreseen before: it is asked for again when it is here.
    if (query.state.data === undefined) mark(client, query.queryKey);
    else void client.resetQueries({ queryKey: query.queryKey, exact: true });
  }
  for (const kind of ['queue', 'queue-place']) mark(client, [kind]);
}

function mark(client: QueryClient, key: readonly unknown[]): void {
  if (key.length === 1 || client.getQueryState(key)) dirtyKeys.set(key.join('/'), key);
}

function arm(client: QueryClient): void {
  if (dirtyKeys.size === 0 && dirtyJobs.size === 0) return;
  timer ??= setTimeout(() => void refetch(client), refetchMs);
}

async function refetch(client: QueryClient): Promise<void> {
  if (!isVisible()) {
    timer = null;
    return arm(client); // until somebody looks
  }
  const now = performance.now();
  for (const [name, queryKey] of dirtyKeys) {
    if (nodeKeys.includes(name) && now - (lastFetched.get(name) ?? 0) < nodesRefetchMs) continue;
    // What was asked before the event may not know of it, and a slow answer must not be begun anew for
    // ever: it stays marked until that answer is here.
    if (client.isFetching({ queryKey, exact: queryKey.length > 1 }) > 0) continue;
    if (nodeKeys.includes(name)) lastFetched.set(name, now);
    dirtyKeys.delete(name);
    // Quotas are kept per owner, so a prefix.
    void client.invalidateQueries({ queryKey, exact: queryKey.length > 1 });
  }
  const ids = [...dirtyJobs];
  dirtyJobs.clear();
  // A list that nobody looks at gets no new jobs here: it is asked for again when somebody does.
  if (ids.length > 0) void client.invalidateQueries({ queryKey: ['jobs'], type: 'inactive', refetchType: 'none' });
  try {
    await (ids.length > singleFetchesMax ? fetchNewest(client) : fetchJobs(client, ids));
  } catch {
    // The server is away: the stream will break too, and the lists refresh when it is back.
  }
  timer = null;
  arm(client);
}

const activeLists = (client: QueryClient) => client.getQueryCache().findAll({ queryKey: ['jobs'], type: 'active' });

async function fetchJobs(client: QueryClient, ids: readonly number[]): Promise<void> {
  if (activeLists(client).length === 0) return;
  const answers = await Promise.allSettled(ids.map((id) => get<Job>(`/jobs/${id}`)));
  const jobs = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  mergeJobs(client, new Map(jobs.map((job) => [job.id, job])));
}

async function fetchNewest(client: QueryClient): Promise<void> {
  for (const query of activeLists(client)) {
    const page = await get<JobPage>(`/jobs?limit=${pageMax}&${String(query.queryKey[1])}`);
    mergeJobs(client, new Map(page.jobs.map((job) => [job.id, job])));
  }
}
