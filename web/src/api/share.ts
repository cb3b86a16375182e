import type { ClusterEvent } from './types';

// One stream of events for all pages of a browser, which opens six connections to a server and no more.
// A page in view reads the stream and tells the others; when it goes, another goes on where it stood. A
// lock of the browser's decides which: it ends with its page, however that ends. Where there is none (an
// address that is not secure), each page reads a stream of its own.

export interface Told {
  state: 'live' | 'lost';
  from: number; // where the reader stood before these events
  to: number; // where it stands
  events: readonly ClusterEvent[];
  heardAt: number; // when the reader last heard of the server, milliseconds since 1970
}

// A reader says something each 15 s; one that is frozen keeps its lock and says nothing.
const silentMs = 45_000;
const backlogMax = 200;

type Message = Told | 'who reads';

export class Share {
  private readonly channel: BroadcastChannel | null;
  private backlog: Message[] = [];
  private onMessage: ((message: Message) => void) | null = null;

  // It listens from now on. No name: nothing is shared.
  constructor(private readonly name: string | null) {
    const canShare = name !== null && typeof BroadcastChannel !== 'undefined' && globalThis.navigator?.locks !== undefined;
    this.channel = canShare ? new BroadcastChannel(name) : null;
    this.channel?.addEventListener('message', (event: MessageEvent<Message>) => {
      if (this.onMessage) this.onMessage(event.data);
      else if (this.backlog.push(event.data) > backlogMax) this.backlog.shift();
    });
  }

  tell(told: Told): void {
    this.channel?.postMessage(told);
  }

  // Follows what the reader tells until it is this page's turn, and then reads until that ends. `onAsked`:
  // a new page wants to know where the reader stands.
  async turn(signal: AbortSignal, onTold: (told: Told) => void, onAsked: () => void, read: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (!this.channel) return read(signal);
    let isFrozen = false;
    for (;;) {
      const patience = new Patience(silentMs);
      const taken = new AbortController();
      this.listen((message) => {
        if (message === 'who reads') return;
        patience.restart();
        onTold(message);
      });
      this.channel.postMessage('who reads' satisfies Message);
      const options: LockOptions = isFrozen ? { steal: true } : { signal: AbortSignal.any([signal, patience.signal]) };
      try {
        return await navigator.locks.request(this.name!, options, () => {
          patience.end();
          this.listen((message) => message === 'who reads' && onAsked());
          return read(AbortSignal.any([signal, taken.signal]));
        });
      } catch (error) {
        isFrozen = patience.signal.aborted;
        if (!isFrozen || signal.aborted) throw error;
      } finally {
        patience.end();
        taken.abort(); // by another page, for which this one was frozen
      }
    }
  }

  close(): void {
    this.channel?.close();
  }

  private listen(onMessage: (message: Message) => void): void {
    this.onMessage = onMessage;
    for (const message of this.backlog.splice(0)) onMessage(message);
  }
}

class Patience {
  private readonly abort = new AbortController();
  readonly signal = this.abort.signal;
  private timer: ReturnType<typeof setTimeout>;

  constructor(private readonly ms: number) {
    this.timer = this.wait();
  }

  restart(): void {
    clearTimeout(this.timer);
    this.timer = this.wait();
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private wait(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.abort.abort(), this.ms);
  }
}
