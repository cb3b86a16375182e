import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setTransport } from '../src/api/client';
import { eventListKey } from '../src/api/eventLists';
import { connection, readStream, startLive } from '../src/api/live';
import type { ClusterEvent } from '../src/api/types';
import { silence } from '../src/lib/freshness';
import { event } from './builders';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const frame = (data: { seq?: number }, kind: string): string => `id: ${data.seq ?? ''}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;

let push: (text: string) => void;
function streams(type = 'text/event-stream'): void {
  setTransport((_, init) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (text) => controller.enqueue(new TextEncoder().encode(text));
        init.signal!.addEventListener('abort', () => controller.error(init.signal!.reason));
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'Content-Type': type } }));
  });
}

it('goes on after the place that the server names when it ends the stream', async () => {
  streams();
  const seen: [number | null, string | undefined][] = [];
  const done = readStream(4, new AbortController().signal, () => undefined, (seq, told) => seen.push([seq, told?.kind]));
  await vi.advanceTimersByTimeAsync(0);
  const told = event('job_held', 'job/1', 0);
  push(frame({ ...told, seq: 5 } as { seq: number }, 'job_held'));
  push(frame({ resume_after: 9, detail: 'read too slowly' } as object, 'end'));
  await done;
  expect(seen).toEqual([[5, 'job_held'], [9, undefined]]);
});

it('gives up a stream over which no sign of life comes', async () => {
  streams();
  let hasEnded = false;
  const done = readStream(4, new AbortController().signal, () => undefined, () => undefined).catch(() => (hasEnded = true));
  await vi.advanceTimersByTimeAsync(30_000);
  push(': alive\n\n');
  await vi.advanceTimersByTimeAsync(34_000);
  expect(hasEnded).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  await done;
  expect(hasEnded).toBe(true);
});

it('is live by a stream of events only', async () => {
  connection.set('lost');
  streams('application/json');
  await expect(readStream(4, new AbortController().signal, () => undefined, () => undefined)).rejects.toThrow('no stream of events');
  expect(connection.get()).toBe('lost');
});

it('is not live again before it is, for whoever signs in next', () => {
  connection.set('live');
  setTransport(() => new Promise(() => undefined));
  const stop = startLive(new QueryClient(), null);
  expect(connection.get()).toBe('connecting');
  stop();
});

it('takes from another page each event once, and begins anew where it missed some', async () => {
  vi.useRealTimers();
  vi.stubGlobal('navigator', { locks: { request: (_: string, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)) } });
  setTransport(() => Promise.resolve(Response.json({ last_seq: 10 })));
  const reader = new BroadcastChannel('test');
  const isAsked = new Promise((resolve) => (reader.onmessage = resolve));
  const client = new QueryClient();
  const key = eventListKey(['quota_set'], 1);
  client.setQueryData<ClusterEvent[]>(key, []);
  const anew = vi.spyOn(client, 'invalidateQueries');
  const stop = startLive(client, 'test');
  const tell = (from: number, ...seqs: number[]): void =>
    reader.postMessage({ state: 'live', from, to: seqs.at(-1) ?? from, heardAt: Date.now(), events: seqs.map((seq) => ({ ...event('quota_set', 'user/ann', seq), seq })) });
  const seqs = (): number[] => client.getQueryData<ClusterEvent[]>(key)!.map(({ seq }) => seq);
  await isAsked; // it follows now, and wants to know where the reader stands
  tell(9);
  tell(9, 10, 11, 12);
  tell(10, 11, 12);
  await vi.waitFor(() => expect(seqs()).toEqual([12, 11]));
  expect(connection.get()).toBe('live');
  expect(anew).not.toHaveBeenCalledWith();
  tell(20, 21);
  await vi.waitFor(() => expect(anew).toHaveBeenCalledWith());
  tell(21, 22);
  await vi.waitFor(() => expect(seqs()).toEqual([22, 12, 11]));
  expect(client.getQueryState(key)?.isInvalidated).toBe(true);
  stop();
  reader.close();
  client.clear();
});

// A page asks who reads, and a reader answers where it stands, also when it hears the server no more than that page.
it('takes a reader at its word only for what that one has heard itself', async () => {
  vi.useRealTimers();
  vi.stubGlobal('navigator', { locks: { request: (_: string, { signal }: { signal: AbortSignal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)) } });
  setTransport(() => Promise.resolve(Response.json({ last_seq: 10 })));
  const reader = new BroadcastChannel('test of words');
  const tell = (seq: number, heardAt: number): void => reader.postMessage({ state: 'live', from: seq - 1, to: seq, heardAt, events: [{ ...event('quota_set', 'user/ann', seq), seq }] });
  reader.onmessage = () => tell(11, Date.now() - 60_000);
  connection.set('lost');
  const client = new QueryClient();
  const key = eventListKey(['quota_set'], 1);
  client.setQueryData<ClusterEvent[]>(key, []);
  const seen = (): number => client.getQueryData<ClusterEvent[]>(key)!.length;
  silence.set({ since: 1, why: '' });
  const stop = startLive(client, 'test of words');
  await vi.waitFor(() => expect(seen()).toBe(1));
  expect(silence.get()).not.toBeNull();
  expect(connection.get()).not.toBe('live');
  tell(12, Date.now() + 5);
  await vi.waitFor(() => expect(connection.get()).toBe('live'));
  expect(silence.get()).toBeNull();
  stop();
  reader.close();
  client.clear();
});
