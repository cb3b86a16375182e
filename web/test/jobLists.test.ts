import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { mergeJobs, patchJobLists } from '../src/api/jobLists';
import type { JobPages } from '../src/api/queries';
import type { Job } from '../src/api/types';
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
