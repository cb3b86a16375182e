import type { QueryClient } from '@tanstack/react-query';
import { silence } from '../lib/freshness';
import { createStore } from '../lib/store';
import { isVisible, untilVisible } from '../lib/visible';
import { applyEvents } from './applyEvents';
import { ApiError, get, openStream } from './client';
import { doubt, heard, lastHeardAt } from './pulse';
import { Share, type Told } from './share';
import { SseParser } from './sse';
import { pauseOrHeard, Watch } from './watch';
import type { Cluster, ClusterEvent } from './types';

// One stream of events for the whole page, which it may share with others (share.ts). It resumes after the last event seen, so nothing is missed
// while a laptop sleeps; the server cuts off a reader that is too slow, which is the same case.

type Connection = 'connecting' | 'live' | 'lost' | 'paused';
export const connection = createStore<Connection>('connecting');

const flushMs = 200;
const retryMsMin = 500;
const retryMsMax = 10_000;
const beginMs = 10_000; // for the first byte of the stream
const silentMs = 35_000; // the server sends a sign of life each 15 s
// Events that arrive while nothing is drawn (a hidden tab) must not pile up without bound.
const pendingMax = 5_000;

// `shareName`: pages of one browser with the same one read one stream.
export function startLive(client: QueryClient, shareName: string | null): () => void {
  const abort = new AbortController();
  connection.set('connecting');
  void new Follower(client, shareName, abort.signal).run();
  return () => abort.abort();
}

class Follower {
  private share = new Share(null);
  private after: number | null = null;
  private retryMs = retryMsMin;
  private wasLost = false;
  private isReading = false; // the stream, so that others are told
  private toldTo = 0;
  private readonly batch: Batch;

  constructor(
    private readonly client: QueryClient,
    private readonly shareName: string | null,
    private readonly signal: AbortSignal,
  ) {
    this.batch = new Batch(client, (events) => this.tell('live', events));
  }

  async run(): Promise<void> {
    const { signal } = this;
    while (!signal.aborted) {
      if (!isVisible()) {
        await untilVisible(signal);
        // A day may have passed: begin anew instead of catching up event by event.
        this.beginAnew(null);
      }
      const watch = new Watch(signal);
      this.share = new Share(this.shareName);
      try {
        this.after ??= (await get<Cluster>('/cluster', watch.signal)).last_seq;
        await this.share.turn(watch.signal, (told) => this.onTold(told), () => this.tell('live'), (until) => this.read(until));
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return;
      } finally {
        watch.end();
        this.share.close();
      }
      if (signal.aborted) return;
      if (watch.isHidden) {
        connection.set('paused');
        continue;
      }
      this.onLost();
      await pauseOrHeard(this.retryMs, signal);
      this.retryMs = Math.min(this.retryMs * 2, retryMsMax);
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    this.toldTo = this.after!;
    try {
      await readStream(this.after!, signal, () => {
        this.isReading = true;
        this.onLive();
        this.tell('live');
      }, (seq, event) => {
        if (seq !== null) this.after = seq;
        if (!event) return this.tell('live');
        this.retryMs = retryMsMin;
        this.batch.add(event);
      });
    } finally {
      // Where only this page goes, the next one reads on at once.
      if (!signal.aborted) this.tell('lost');
      this.isReading = false;
    }
  }

  private tell(state: Told['state'], events: readonly ClusterEvent[] = []): void {
    if (!this.isReading) return;
    const from = this.toldTo;
    this.toldTo = Math.max(from, events.at(-1)?.seq ?? from);
    this.share.tell({ state, from, to: this.toldTo, events, heardAt: lastHeardAt() });
  }

  private onTold({ state, from, to, events, heardAt }: Told): void {
    if (state === 'lost') return this.onLost();
    heard(heardAt);
    // A reader that hears nothing itself answers all the same where it stands.
    if (silence.get() === null) this.onLive();
    const after = this.after!;
    if (from > after) return this.beginAnew(to);
    for (const event of events) if (event.seq > after) this.batch.add(event);
    this.after = Math.max(after, to);
  }

  private beginAnew(after: number | null): void {
    this.after = after;
    void this.client.invalidateQueries();
  }

  private onLive(): void {
    connection.set('live');
    // What no event says may have changed while nobody told.
    if (this.wasLost) void this.client.invalidateQueries();
    this.wasLost = false;
  }

  private onLost(): void {
    connection.set('lost');
    this.wasLost = true;
    doubt();
  }
}

// `onSeen`: up to where the stream has been read, and what it told; neither: it is alive.
export async function readStream(
  after: number,
  signal: AbortSignal,
  onBegin: () => void,
  onSeen: (seq: number | null, event?: ClusterEvent) => void,
): Promise<void> {
  const silence = new AbortController();
  const response = await openStream(
    `/api/v1/events?after=${after}`,
    { signal: AbortSignal.any([signal, silence.signal]), headers: { Accept: 'text/event-stream' } },
    beginMs,
  );
  if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true) throw new Error('the answer is no stream of events');
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
      const messages = parser.push(value);
      if (messages.length === 0) onSeen(null);
      for (const message of messages) {
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

  constructor(
    private readonly client: QueryClient,
    private readonly onFlush: (events: readonly ClusterEvent[]) => void,
  ) {}

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
    this.onFlush(events);
    applyEvents(this.client, events);
  }
}
