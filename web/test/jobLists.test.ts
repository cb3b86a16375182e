import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { applyEvents } from '../src/api/applyEvents';
import { setTransport } from '../src/api/client';
import { mergeJobs, patchJobLists } from '../src/api/jobLists';
import type { JobPages } from '../src/api/queries';
import type { Job, JobPage } from '../src/api/types';
import { event, job } from './builders';

function cache(lists: Record<string, { jobs: Job[]; next_cursor: string | null }[]>): QueryClient {
  const client = new QueryClient();
  for (const [query, pages] of Object.entries(lists)) {
    client.setQueryData<JobPages>(['jobs', query], { pages, pageParams: pages.map((_, i) => String(i)) });
  }
  return client;
}
const ids = (client: QueryClient, query: string): number[][] =>
  client.getQueryData<JobPages>(['jobs', query])!.pages.map((page) => page.jobs.map((each) => each.id));

it('moves a job from the list it leaves into the list it enters', () => {
  const running = job({ id: 5, state: 'running', attempt: 1 });
  const client = cache({
    'state=running': [{ jobs: [running], next_cursor: null }],
    'state=suspended': [{ jobs: [job({ id: 9, state: 'suspended' })], next_cursor: null }],
  });
  patchJobLists(client, new Map([[5, [event('attempt_ended', 'job/5', 1, { outcome: 'suspended' })]]]));
  expect([ids(client, 'state=running'), ids(client, 'state=suspended')]).toEqual([[[]], [[9, 5]]]);
});

it('puts a new job at its place, and leaves one alone that belongs to a page not loaded', () => {
  const client = cache({ 'finished=true': [{ jobs: [job({ id: 9 }), job({ id: 7 })], next_cursor: '7' }] });
  mergeJobs(client, new Map([[8, job({ id: 8 })], [10, job({ id: 10 })], [3, job({ id: 3 })]]));
  expect(ids(client, 'finished=true')).toEqual([[10, 9, 8, 7]]);
});

it('fills an empty last page', () => {
  const client = cache({ '': [{ jobs: [], next_cursor: null }] });
  mergeJobs(client, new Map([[3, job({ id: 3 })]]));
  expect(ids(client, '')).toEqual([[3]]);
});

it('touches no list that nothing changed in', () => {
  const client = cache({ 'user=ben': [{ jobs: [job({ id: 2, user: 'ben' })], next_cursor: null }] });
  const before = client.getQueryData(['jobs', 'user=ben']);
  mergeJobs(client, new Map([[3, job({ id: 3 })]]));
  expect(client.getQueryData(['jobs', 'user=ben'])).toBe(before);
});

const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

it('lets a slow list of several pages be asked for to its end, while events go on', async () => {
  vi.useFakeTimers();
  let page = 0;
  const ask = vi.fn(({ pageParam }: { pageParam: string }): Promise<{ jobs: Job[]; next_cursor: string | null }> => {
    page = Number(pageParam);
    const jobs = Array.from({ length: 1_001 }, (_, i) => job({ id: 10_000 - 2_000 * page - i }));
    return new Promise((resolve) => setTimeout(() => resolve({ jobs, next_cursor: page < 2 ? String(page + 1) : null }), 900));
  });
  const client = cache({ '': [0, 1, 2].map((n) => ({ jobs: [job({ id: 10_000 - 2_000 * n })], next_cursor: n < 2 ? String(n + 1) : null })) });
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['jobs', ''], queryFn: ask, initialPageParam: '0', getNextPageParam: (last) => last.next_cursor, staleTime: Infinity,
  });
  const stop = observer.subscribe(() => undefined);
  const grown = Array.from({ length: 2_001 }, (_, i) => job({ id: 20_000 + i }));
  mergeJobs(client, new Map(grown.map((each) => [each.id, each])));
  for (let i = 0; i < 20; i += 1) {
    await wait(200);
    mergeJobs(client, new Map([[30_000 + i, job({ id: 30_000 + i })]]));
  }
  expect(ask.mock.calls.slice(0, 3).map(([{ pageParam }]) => pageParam)).toEqual(['0', '1', '2']);
  stop();
  await wait(20_000);
  client.clear();
  vi.useRealTimers();
});

it('asks anew only after the answer that is on its way, and not in its place', async () => {
  vi.useFakeTimers();
  setTransport(() => Promise.resolve(Response.json({})));
  const client = new QueryClient();
  let asked = 0;
  let answered = 0;
  const ask = ({ signal }: { signal: AbortSignal }): Promise<object> => {
    asked += 1;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      setTimeout(() => resolve({ at: (answered += 1) }), 2_500);
    });
  };
  const observer = new InfiniteQueryObserver(client, { queryKey: ['cluster'], queryFn: ask, initialPageParam: '', getNextPageParam: () => null });
  const stop = observer.subscribe(() => undefined);
  for (let i = 0; i < 30; i += 1) {
    applyEvents(client, [event('job_held', 'job/5', 1)]);
    await wait(200);
  }
  expect(answered).toBeGreaterThanOrEqual(2);
  expect(asked - answered).toBeLessThanOrEqual(1);
  stop();
  await wait(20_000);
  client.clear();
  vi.useRealTimers();
});

it('asks for the nodes aside with the sums of the cluster', async () => {
  vi.useFakeTimers();
  const client = new QueryClient();
  client.setQueryData(['nodes-aside', '&liveness=down'], []);
  applyEvents(client, [event('attempt_ended', 'job/5', 1, { outcome: 'suspended' })]);
  await wait(20_000);
  expect(client.getQueryState(['nodes-aside', '&liveness=down'])?.isInvalidated).toBe(true);
  client.clear();
  vi.useRealTimers();
});

it('does not take a list for new that lacks jobs, because others in it have changed', () => {
  const client = cache({ 'state=running': [{ jobs: [job({ id: 5, state: 'running' })], next_cursor: null }] });
  const key = ['jobs', 'state=running'];
  client.setQueryData(key, client.getQueryData(key), { updatedAt: 1_000 });
  void client.invalidateQueries({ queryKey: key, refetchType: 'none' });
  mergeJobs(client, new Map([[5, job({ id: 5, state: 'running', requeue_count: 1 })]]));
  expect(client.getQueryData<JobPages>(key)!.pages[0]!.jobs[0]!.requeue_count).toBe(1);
  expect(client.getQueryState(key)).toMatchObject({ isInvalidated: true, dataUpdatedAt: 1_000 });
  mergeJobs(client, new Map([[6, job({ id: 6, state: 'failed' })]]));
  expect(client.getQueryState(key)).toMatchObject({ isInvalidated: true, dataUpdatedAt: 1_000 });
});

it('lets no list grow without bound while its answer does not come', async () => {
  vi.useFakeTimers();
  const client = cache({ '': [{ jobs: [job({ id: 1 })], next_cursor: '1' }, { jobs: [], next_cursor: null }] });
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['jobs', ''], queryFn: (): Promise<JobPage> => new Promise(() => undefined), initialPageParam: '', getNextPageParam: (last) => last.next_cursor, staleTime: Infinity,
  });
  const stop = observer.subscribe(() => undefined);
  for (let second = 0; second < 60; second += 1) {
    const fresh = Array.from({ length: 600 }, (_, i) => job({ id: 10_000 + 600 * second + i }));
    mergeJobs(client, new Map(fresh.map((each) => [each.id, each])));
    await wait(1_000);
  }
  expect(client.getQueryData<JobPages>(['jobs', ''])!.pages.map(({ jobs }) => jobs.length)).toEqual([3_000, 0]);
  expect(client.isFetching({ queryKey: ['jobs'] })).toBe(1); // what it lacks comes with the answer
  stop();
  client.clear();
  vi.useRealTimers();
});

// The estimate for one job does not say of what time it is.
it('drops at once what was foreseen for one job when a node falls silent, and keeps the reasons', () => {
  const client = new QueryClient();
  client.setQueryData(['why', '3'], { start_p50: 'soon' });
  client.setQueryData(['why', '3', 'reasons'], { facts: [] });
  applyEvents(client, [event('node_liveness_changed', 'node/n1', 0, { liveness: 'up' })]);
  expect(client.getQueryData(['why', '3'])).toEqual({ start_p50: 'soon' });
  applyEvents(client, [event('node_liveness_changed', 'node/n1', 1, { liveness: 'suspect' })]);
  expect(client.getQueryData(['why', '3'])).toBeUndefined();
  expect(client.getQueryData(['why', '3', 'reasons'])).toEqual({ facts: [] });
});
