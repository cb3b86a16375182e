// Each followed log keeps a connection, and a browser opens six to a server. So its pages follow three at
// most: who begins takes the place of the page that began first, which goes on when somebody turns to it.
const followedMax = 3;

type Message = { id: string; isGone: boolean };

export class LogPlace {
  private readonly id = `${Date.now()}.${Math.random()}`;
  private readonly channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('hai.logs');
  private readonly later = new Set<string>(); // pages that began after this one
  private onTaken: (() => void) | null = null;

  constructor() {
    this.channel?.addEventListener('message', ({ data: { id, isGone } }: MessageEvent<Message>) => {
      if (isGone) this.later.delete(id);
      else if (this.onTaken) this.later.add(id);
      if (this.later.size >= followedMax) this.onTaken?.();
    });
  }

  // Until it is left; `onTaken`: another page has it now.
  take(onTaken: () => void): void {
    this.later.clear();
    this.onTaken = onTaken;
    this.tell(false);
  }

  leave(): void {
    if (this.onTaken) this.tell(true);
    this.onTaken = null;
  }

  close(): void {
    this.leave();
    this.channel?.close();
  }

  private tell(isGone: boolean): void {
    this.channel?.postMessage({ id: this.id, isGone } satisfies Message);
  }
}

// Until somebody turns to this page.
export function untilWanted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
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
