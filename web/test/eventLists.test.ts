import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { applyEvents } from '../src/api/applyEvents';
import { eventListKey, extendEventLists, withLater } from '../src/api/eventLists';
import type { ClusterEvent } from '../src/api/types';
import { event } from './builders';

const kinds = ['job_finished', 'job_requeued'];
const key = eventListKey(kinds, 1);
const others = (count: number): ClusterEvent[] => Array.from({ length: count }, () => event('rank_running', 'user/ann', 0));
const failed = (): ClusterEvent => event('job_finished', 'job/7', 0, { state: 'failed' });

it('keeps a failure in its list, however much else happens after it', () => {
  const client = new QueryClient();
  const old = failed();
  client.setQueryData(key, [old], { updatedAt: 1_000 });
  const fresh = failed();
  applyEvents(client, [...others(4_000), fresh]);
  for (let i = 0; i < 5; i += 1) applyEvents(client, others(4_000));
  expect(client.getQueryData(key)).toEqual([fresh, old]);
  expect(client.getQueryState(key)?.dataUpdatedAt).toBe(1_000);
  client.clear();
});

it('keeps no more than were asked for, each once, the newest first', () => {
  const client = new QueryClient();
  client.setQueryData(key, []);
  const all = Array.from({ length: 2_500 }, failed);
  extendEventLists(client, all.slice(0, 2_000));
  extendEventLists(client, all.slice(1_000));
  expect(client.getQueryData(key)).toEqual(all.slice(-1_000).reverse());
  client.clear();
});

it('loses nothing that happens while the list is on its way', async () => {
  const client = new QueryClient();
  const [known, both, later] = [failed(), failed(), failed()];
  let answer: (events: ClusterEvent[]) => void = () => undefined;
  const asked = withLater(kinds, 1, () => new Promise((resolve) => (answer = resolve)));
  extendEventLists(client, [both, ...others(4_000)]);
  extendEventLists(client, [...others(4_000), later]);
  answer([both, known]);
  expect(await asked).toEqual([later, both, known]);
});

it('does not take a list for new that is to be asked for again', () => {
  const client = new QueryClient();
  client.setQueryData(key, [failed()]);
  void client.invalidateQueries({ queryKey: key });
  extendEventLists(client, [failed()]);
  expect(client.getQueryData<ClusterEvent[]>(key)).toHaveLength(2);
  expect(client.getQueryState(key)?.isInvalidated).toBe(true);
  client.clear();
});
