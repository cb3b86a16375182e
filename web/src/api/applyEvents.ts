import type { QueryClient } from '@tanstack/react-query';
import { matchesServerFilter, parseJobFilter } from '../lib/jobFilter';
import { get } from './client';
import { collectPatches, patchJob, patchNode, type Patches } from './eventPatch';
import type { JobPages } from './queries';
import type { ClusterEvent, Job, Node } from './types';

// Events change what is shown at once; what they don't say is asked for again, at most once per
// `refetchMs` and kind of answer, however many events come.
const refetchMs = 1_000;
// More changed jobs than this: the lists are asked for again as a whole.
const singleFetchesMax = 40;

const dirtyJobs = new Set<number>();
const dirtyKeys = new Map<string, readonly unknown[]>();
let timer: ReturnType<typeof setTimeout> | null = null;

export function applyEvents(client: QueryClient, events: readonly ClusterEvent[]): void {
  const patches = collectPatches(events);
  patchLists(client, patches);
  for (const [id, list] of patches.jobs) {
    client.setQueryData<Job>(['job', String(id)], (job) => job && list.reduce(patchJob, job));
    dirtyJobs.add(id);
    for (const kind of ['job', 'attempts', 'job-events', 'why']) mark([kind, String(id)]);
  }
  for (const [name, list] of patches.nodes) {
    client.setQueryData<Node>(['node', name], (node) => node && list.reduce(patchNode, node));
    mark(['node', name]);
    mark(['node-events', name]);
  }
  if (patches.touches.has('cluster')) mark(['nodes']);
  for (const key of patches.touches) mark([key]);
  timer ??= setTimeout(() => void refetch(client), refetchMs);
}

function mark(key: readonly unknown[]): void {
  dirtyKeys.set(key.join('/'), key);
}

function patchLists(client: QueryClient, patches: Patches): void {
  if (patches.nodes.size > 0) {
    client.setQueryData<Node[]>(['nodes'], (nodes) =>
      nodes?.map((node) => patches.nodes.get(node.name)?.reduce(patchNode, node) ?? node),
    );
  }
  if (patches.jobs.size === 0) return;
  client.setQueriesData<JobPages>({ queryKey: ['jobs'] }, (data) =>
    mapJobs(data, (job) => patches.jobs.get(job.id)?.reduce(patchJob, job) ?? job),
  );
}

function mapJobs(data: JobPages | undefined, change: (job: Job) => Job | null): JobPages | undefined {
  if (!data) return data;
  const pages = data.pages.map((page) => {
    const jobs = page.jobs.flatMap((job) => change(job) ?? []);
    const isSame = jobs.length === page.jobs.length && jobs.every((job, i) => job === page.jobs[i]);
    return isSame ? page : { ...page, jobs };
  });
  return pages.every((page, i) => page === data.pages[i]) ? data : { ...data, pages };
}

async function refetch(client: QueryClient): Promise<void> {
  timer = null;
  const keys = [...dirtyKeys.values()];
  const ids = [...dirtyJobs];
  dirtyKeys.clear();
  dirtyJobs.clear();
  for (const queryKey of keys) void client.invalidateQueries({ queryKey, exact: true });
  if (ids.length > singleFetchesMax) {
    void client.invalidateQueries({ queryKey: ['jobs'] });
    return;
  }
  const hasLists = client.getQueryCache().findAll({ queryKey: ['jobs'], type: 'active' }).length > 0;
  if (!hasLists) return;
  for (const id of ids) {
    try {
      upsertJob(client, await get<Job>(`/jobs/${id}`));
    } catch {
      // Another's job, or the server is away: the lists' own refresh will tell.
    }
  }
}

// Into each list whose filter it passes, at its place by id; out of the others.
export function upsertJob(client: QueryClient, job: Job): void {
  for (const query of client.getQueryCache().findAll({ queryKey: ['jobs'] })) {
    const search = String(query.queryKey[1]);
    const isAll = new URLSearchParams(search).get('finished') === 'true';
    const filter = { ...parseJobFilter(search), ...(isAll ? { states: [] } : {}) };
    client.setQueryData<JobPages>(query.queryKey, (data) => {
      if (!data) return data;
      const fits = matchesServerFilter(job, filter);
      let isKnown = false;
      const mapped = mapJobs(data, (other) => {
        if (other.id !== job.id) return other;
        isKnown = true;
        return fits ? job : null;
      });
      if (isKnown || !fits || !mapped) return mapped;
      return insertJob(mapped, job);
    });
  }
}

function insertJob(data: JobPages, job: Job): JobPages {
  const at = data.pages.findIndex((page) => page.jobs.length === 0 || page.jobs.at(-1)!.id < job.id);
  // Older than all that is loaded: it comes with its page.
  if (at < 0 && data.pages.at(-1)?.next_cursor !== null) return data;
  const index = at < 0 ? data.pages.length - 1 : at;
  const pages = data.pages.map((page, i) => {
    if (i !== index) return page;
    return { ...page, jobs: [...page.jobs, job].sort((a, b) => b.id - a.id) };
  });
  return { ...data, pages };
}
