import type { QueryClient } from '@tanstack/react-query';
import { createStore } from '../lib/store';
import { ApiError, get, open } from './client';
import { applyEvents } from './applyEvents';
import { SseParser } from './sse';
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
// Events that arrive while nothing is drawn (a hidden tab) must not pile up without bound.
const pendingMax = 5_000;

export function startLive(client: QueryClient): () => void {
  const abort = new AbortController();
  void follow(client, abort.signal);
  return () => abort.abort();
}

async function follow(client: QueryClient, signal: AbortSignal): Promise<void> {
  const batch = new Batch(client);
  let after: number | null = null;
  let retryMs = 500;
  while (!signal.aborted) {
    if (document.visibilityState === 'hidden') {
      await untilVisible(signal);
      // A day may have passed: begin anew instead of catching up event by event.
      after = null;
      recentEvents.set({ events: [], isCut: true });
      void client.invalidateQueries();
    }
    const watch = new HiddenWatch(signal);
    try {
      after ??= (await get<Cluster>('/cluster', signal)).last_seq;
      await readStream(after, watch.signal, (event) => {
        after = event.seq;
        retryMs = 500;
        batch.add(event);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return;
    } finally {
      watch.end();
    }
    if (watch.signal.aborted) {
      connection.set('paused');
      continue;
    }
    connection.set('lost');
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, retryMsMax);
  }
}

// A browser opens six connections to a server and no more: pages that nobody sees must not hold theirs.
const hiddenMs = 5_000;

class HiddenWatch {
  private readonly abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | null = null;
  readonly signal: AbortSignal;

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.abort.signal]);
    document.addEventListener('visibilitychange', this.onChange);
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.onChange);
    if (this.timer) clearTimeout(this.timer);
  }

  private readonly onChange = (): void => {
    if (this.timer) clearTimeout(this.timer);
    this.timer = document.visibilityState === 'hidden' ? setTimeout(() => this.abort.abort(), hiddenMs) : null;
  };
}

function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (document.visibilityState === 'hidden' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', check);
      resolve();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', check);
    check();
  });
}

async function readStream(
  after: number,
  signal: AbortSignal,
  onEvent: (event: ClusterEvent) => void,
): Promise<void> {
  const response = await open(`/api/v1/events?after=${after}`, {
    signal,
    headers: { Accept: 'text/event-stream' },
  });
  connection.set('live');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new SseParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const message of parser.push(value)) onEvent(JSON.parse(message.data) as ClusterEvent);
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
