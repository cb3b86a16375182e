import type { QueryClient } from '@tanstack/react-query';
import { createStore } from '../lib/store';
import { isVisible, untilVisible } from '../lib/visible';
import { applyEvents } from './applyEvents';
import { ApiError, get, openStream } from './client';
import { doubt, heard } from './pulse';
import { SseParser } from './sse';
import { pauseOrHeard, Watch } from './watch';
import type { Cluster, ClusterEvent } from './types';

// One stream of events for the whole page. It resumes after the last event seen, so nothing is missed
// while a laptop sleeps; the server cuts off a reader that is too slow, which is the same case.

export type Connection = 'connecting' | 'live' | 'lost' | 'paused';
export const connection = createStore<Connection>('connecting');

// Newest first; `isCut`: older ones were let go.
export interface Recent {
  events: readonly ClusterEvent[];
  isCut: boolean;
}
const recentMax = 3_000;
export const recentEvents = createStore<Recent>({ events: [], isCut: false });

const flushMs = 200;
const retryMsMax = 10_000;
const beginMs = 10_000; // for the first byte of the stream
const silentMs = 35_000; // the server sends a sign of life each 15 s
// Events that arrive while nothing is drawn (a hidden tab) must not pile up without bound.
const pendingMax = 5_000;

export function startLive(client: QueryClient): () => void {
  const abort = new AbortController();
  connection.set('connecting');
  void follow(client, abort.signal);
  return () => abort.abort();
}

async function follow(client: QueryClient, signal: AbortSignal): Promise<void> {
  const batch = new Batch(client);
  let after: number | null = null;
  let retryMs = 500;
  let wasLost = false;
  while (!signal.aborted) {
    if (!isVisible()) {
      await untilVisible(signal);
      // A day may have passed: begin anew instead of catching up event by event.
      after = null;
      recentEvents.set({ events: [], isCut: true });
      void client.invalidateQueries();
    }
    const watch = new Watch(signal);
    try {
      after ??= (await get<Cluster>('/cluster', watch.signal)).last_seq;
      await readStream(after, watch.signal, () => {
        // What no event says may have changed while nobody told.
        if (wasLost) void client.invalidateQueries();
        wasLost = false;
      }, (seq, event) => {
        after = seq;
        if (!event) return;
        retryMs = 500;
        batch.add(event);
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return;
    } finally {
      watch.end();
    }
    if (signal.aborted) return;
    if (watch.isHidden) {
      connection.set('paused');
      continue;
    }
    connection.set('lost');
    wasLost = true;
    doubt();
    await pauseOrHeard(retryMs, signal);
    retryMs = Math.min(retryMs * 2, retryMsMax);
  }
}

// `onSeen`: up to where the stream has been read, and what it told, if anything.
export async function readStream(
  after: number,
  signal: AbortSignal,
  onBegin: () => void,
  onSeen: (seq: number, event?: ClusterEvent) => void,
): Promise<void> {
  const silence = new AbortController();
  const response = await openStream(
    `/api/v1/events?after=${after}`,
    { signal: AbortSignal.any([signal, silence.signal]), headers: { Accept: 'text/event-stream' } },
    beginMs,
  );
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) throw new Error('the answer is no stream of events');
  connection.set('live');
  onBegin();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new SseParser();
  // The stream's connection alone may be dead while the server answers over others.
  const wait = (): ReturnType<typeof setTimeout> => setTimeout(() => silence.abort(), silentMs);
  let timer = wait();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = wait();
      heard();
      for (const message of parser.push(value)) {
        // The server's last word: up to where it has told everything.
        if (message.event === 'end') return onSeen((JSON.parse(message.data) as { resume_after: number }).resume_after);
        const event = JSON.parse(message.data) as ClusterEvent;
        onSeen(event.seq, event);
      }
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
}

class Batch {
  private events: ClusterEvent[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly client: QueryClient) {}

  add(event: ClusterEvent): void {
    this.events.push(event);
    if (this.events.length > pendingMax) this.flush();
    this.timer ??= setTimeout(() => this.flush(), flushMs);
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const events = this.events;
    this.events = [];
    const before = recentEvents.get();
    const all = [...events].reverse().concat(before.events);
    recentEvents.set({ events: all.slice(0, recentMax), isCut: before.isCut || all.length > recentMax });
    applyEvents(this.client, events);
  }
}
