import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { setTransport } from '../src/api/client';
import { nodeEventsQuery } from '../src/api/queries';

it('keeps few answers about a node whose jobs come and go by the second', async () => {
  vi.useFakeTimers();
  setTransport(() => Promise.resolve(Response.json({ events: [], next_cursor: null })));
  const client = new QueryClient();
  const observer = new QueryObserver(client, nodeEventsQuery('n1', [], []));
  const stop = observer.subscribe(() => undefined);
  for (let second = 0; second < 120; second += 1) {
    observer.setOptions(nodeEventsQuery('n1', [], [second]));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(client.getQueryCache().getAll().length).toBeLessThan(15);
  stop();
  client.clear();
  vi.useRealTimers();
});
