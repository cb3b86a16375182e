import { silence } from '../lib/freshness';
import { isVisible } from '../lib/visible';

// A browser opens six connections to a server and no more: pages that nobody sees must not hold theirs,
// neither that of the events nor that of a log.
const hiddenMs = 5_000;

// Lets go of the stream when the page is hidden, and when the server is silent: a connection over which
// nothing comes any more must not be waited for.
export class Watch {
  private readonly abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly unsubscribe: () => void;
  readonly signal: AbortSignal;
  isHidden = false;

  constructor(outer: AbortSignal) {
    this.signal = AbortSignal.any([outer, this.abort.signal]);
    document.addEventListener('visibilitychange', this.onChange);
    this.unsubscribe = silence.subscribe(() => silence.get() && this.abort.abort());
  }

  end(): void {
    document.removeEventListener('visibilitychange', this.onChange);
    this.unsubscribe();
    if (this.timer) clearTimeout(this.timer);
  }

  private readonly onChange = (): void => {
    if (this.timer) clearTimeout(this.timer);
    this.timer = isVisible() ? null : setTimeout(() => this.leave(), hiddenMs);
  };

  private leave(): void {
    this.isHidden = true;
    this.abort.abort();
  }
}

// Until it is time, or the server has been heard again.
export function pauseOrHeard(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const unsubscribe = silence.subscribe(() => silence.get() === null && end());
    signal.addEventListener('abort', end, { once: true });
  });
}
