import type { QueryClient } from '@tanstack/react-query';
import { type JobFilter, matchesServerFilter, parseJobFilter } from '../lib/jobFilter';
import { patchJob } from './eventPatch';
import type { JobPages } from './queries';
import type { ClusterEvent, Job } from './types';

// The cached lists of jobs, each with its own filter, kept true while jobs change: a job leaves the lists
// it no longer fits and enters those it does. One pass over each list, however many jobs changed.

// New jobs are put into the pages that are loaded; a page with more than this is asked for again.
const pageJobsMax = 2_000;
// Where the answer is long in coming, such a page takes in no more: the answer has the rest.
const pageJobsLimit = 3_000;

function filterOfList(query: string): JobFilter {
  const wantsFinished = new URLSearchParams(query).get('finished') === 'true';
  const filter = parseJobFilter(query);
  return wantsFinished ? { ...filter, states: [] } : filter;
}

export function patchJobLists(client: QueryClient, events: ReadonlyMap<number, ClusterEvent[]>): void {
  if (events.size === 0) return;
  const changed = new Map<number, Job>();
  for (const [, data] of client.getQueriesData<JobPages>({ queryKey: ['jobs'] })) {
    for (const page of data?.pages ?? []) {
      for (const job of page.jobs) {
        const list = events.get(job.id);
        if (list && !changed.has(job.id)) changed.set(job.id, list.reduce(patchJob, job));
      }
    }
  }
  mergeJobs(client, changed);
}

export function mergeJobs(client: QueryClient, jobs: ReadonlyMap<number, Job>): void {
  if (jobs.size === 0) return;
  for (const { queryKey: key, state } of client.getQueryCache().findAll({ queryKey: ['jobs'] })) {
    const filter = filterOfList(String(key[1]));
    const { isInvalidated, dataUpdatedAt } = state;
    const merged = client.setQueryData<JobPages>(
      key,
      (data) => {
        const next = data && mergeInto(data, jobs, filter);
        return next === data ? undefined : next;
      },
      { updatedAt: dataUpdatedAt },
    );
    // What is put in makes a list no newer: one that lacks jobs is asked for when somebody looks at it.
    if (merged && isInvalidated) void client.invalidateQueries({ queryKey: key, exact: true, refetchType: 'none' });
    // In pages as they were, which have a bound; a page that stays open for a day must not grow all day.
    // An answer that is on its way is waited for: events come faster than several pages do.
    const shown = merged ?? client.getQueryData<JobPages>(key);
    if (shown?.pages.some((page) => page.jobs.length > pageJobsMax)) {
      void client.invalidateQueries({ queryKey: key, exact: true }, { cancelRefetch: false });
    }
  }
}

export const upsertJob = (client: QueryClient, job: Job): void => mergeJobs(client, new Map([[job.id, job]]));

function mergeInto(data: JobPages, jobs: ReadonlyMap<number, Job>, filter: JobFilter): JobPages {
  const missing = new Map(jobs);
  let pages = data.pages.map((page) => {
    if (!page.jobs.some((job) => jobs.has(job.id))) return page;
    const kept = page.jobs.flatMap((job) => {
      const now = jobs.get(job.id);
      if (!now) return job;
      missing.delete(job.id);
      return matchesServerFilter(now, filter) ? now : [];
    });
    return { ...page, jobs: kept };
  });
  pages = insert(pages, [...missing.values()].filter((job) => matchesServerFilter(job, filter)));
  return pages.every((page, i) => page === data.pages[i]) ? data : { ...data, pages };
}

function insert(pages: JobPages['pages'], jobs: readonly Job[]): JobPages['pages'] {
  const last = pages.length - 1;
  const added = new Map<number, Job[]>();
  for (const job of jobs) {
    const at = pages.findIndex((page) => page.jobs.length > 0 && page.jobs.at(-1)!.id < job.id);
    // Older than all that is loaded: it comes with its own page.
    if (at < 0 && pages[last]?.next_cursor !== null) continue;
    const index = at < 0 ? last : at;
    const list = added.get(index);
    if (list) list.push(job);
    else added.set(index, [job]);
  }
  return pages.map((page, i) => {
    const room = pageJobsLimit - page.jobs.length;
    const more = (added.get(i) ?? []).slice(0, Math.max(0, room));
    return more.length === 0 ? page : { ...page, jobs: [...page.jobs, ...more].sort((a, b) => b.id - a.id) };
  });
}
