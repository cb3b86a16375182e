// Each followed log keeps a connection, and a browser opens six to a server. So its pages follow three at
// most: who begins takes the place of the page that began first, which goes on when somebody turns to it.
const followedMax = 3;

// `begun` orders the pages, the same for all of them, also when two begin at once and hear of each other later.
interface Message {
  id: string;
  begun: number | null; // null: it follows no more
}

export class LogPlace {
  private readonly id = `${Date.now()}.${Math.random()}`;
  private readonly channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('hai.logs');
  private readonly others = new Map<string, number>();
  private begun = 0;
  private onTaken: (() => void) | null = null;
  private onFree: (() => void) | null = null;

  constructor() {
    this.channel?.addEventListener('message', ({ data: { id, begun } }: MessageEvent<Message>) => {
      if (begun === null) this.others.delete(id);
      else this.others.set(id, begun);
      this.look();
    });
  }

  // Until it is left; `onTaken`: another page has it now.
  take(onTaken: () => void): void {
    this.begun = performance.timeOrigin + performance.now();
    this.onTaken = onTaken;
    this.tell(this.begun);
    this.look();
  }

  leave(): void {
    if (this.onTaken) this.tell(null);
    this.onTaken = null;
  }

  close(): void {
    this.leave();
    this.channel?.close();
  }

  // Until there is a place again, because a page that had one ended, or somebody turns to this one.
  async untilWanted(signal: AbortSignal): Promise<void> {
    const free = new AbortController();
    this.onFree = () => free.abort();
    this.look();
    await untilTurnedTo(AbortSignal.any([signal, free.signal]));
    this.onFree = null;
  }

  private look(): void {
    if (this.others.size < followedMax) this.onFree?.();
    const later = [...this.others].filter(([id, begun]) => begun > this.begun || (begun === this.begun && id > this.id));
    if (later.length >= followedMax) this.onTaken?.();
  }

  private tell(begun: number | null): void {
    this.channel?.postMessage({ id: this.id, begun } satisfies Message);
  }
}

function untilTurnedTo(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const kinds = ['focus', 'pointerdown', 'keydown', 'visibilitychange'];
    const end = (): void => {
      for (const kind of kinds) removeEventListener(kind, end, true);
      signal.removeEventListener('abort', end);
      resolve();
    };
    for (const kind of kinds) addEventListener(kind, end, true);
    signal.addEventListener('abort', end);
  });
}
