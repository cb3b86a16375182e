import { ApiError, openStream } from '../../api/client';
import { LogPlace, untilWanted } from '../../api/logPlaces';
import { heard } from '../../api/pulse';
import { pauseOrHeard, Watch } from '../../api/watch';
import { LogBuffer } from '../../lib/logBuffer';
import { untilVisible } from '../../lib/visible';

// The end of a rank's log, and then each line as it is written, in one request. The request is let go
// while nobody looks, and made again when it broke; the lines go on where they ended.
//
// Once the rank has ended nothing is followed: then the server says as a status why it can't give the
// log, which it can't once an answer that follows has begun.

export interface Log {
  lines: string[];
  dropped: number;
  isWhole: boolean; // from its first line on
  state: 'loading' | 'following' | 'paused' | 'elsewhere' | 'asking' | 'lost' | 'ended';
  source: string | null; // why it is not from its node, and where from
  until: string | null; // it may go on after that time, which nobody can read now
  error: Error | null;
}
export const noLog: Log = { lines: [], dropped: 0, isWhole: true, state: 'loading', source: null, until: null, error: null };

export const tailBytes = 256 * 1024;
const tailBytesAgain = 16 * 1024 * 1024; // to find back to where the last reading ended
const longestLine = 64 * 1024;
const drawMs = 120;
const retryMs = 2_000;
const beginMs = 20_000; // of an answer; the server waits 5 s for the node, and then looks into its store

interface Which {
  job: string;
  attempt: number;
  rank: number;
}

export class LogReader {
  private readonly abort = new AbortController();
  private readonly buffer = new LogBuffer();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private log: Log = { ...noLog };
  private gaps = 0; // in a row
  private readonly place = new LogPlace();

  constructor(
    private readonly which: Which,
    private readonly isOver: () => boolean,
    private readonly onLog: (log: Log) => void,
  ) {}

  stop(): void {
    this.abort.abort();
    this.place.close();
    if (this.timer) clearTimeout(this.timer);
  }

  async run(): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      await untilVisible(signal);
      const watch = new Watch(signal);
      const taken = new AbortController();
      const follows = !this.isOver();
      let next: Log['state'] = 'lost';
      if (follows) this.place.take(() => taken.abort());
      try {
        if ((await this.readOnce(follows, AbortSignal.any([watch.signal, taken.signal]))) === 'gap') {
          this.gaps += 1;
          continue;
        }
        if (!follows) return this.become({ state: 'ended' });
        // It may be the end of the log or of the connection: only an answer that does not follow says.
        next = 'asking';
      } catch (error) {
        if (!signal.aborted && error instanceof ApiError && isFinal(error, follows)) return this.become({ state: 'ended', error });
      } finally {
        watch.end();
        this.place.leave();
      }
      if (signal.aborted) return;
      this.gaps = 0;
      if (taken.signal.aborted) {
        this.become({ state: 'elsewhere' });
        await untilWanted(signal);
        continue;
      }
      this.become({ state: watch.isHidden ? 'paused' : next });
      if (!watch.isHidden && !(follows && this.isOver())) await pauseOrHeard(retryMs, signal);
    }
  }

  private become(change: Partial<Log>): void {
    this.log = { ...this.log, error: null, ...change };
    this.draw();
  }

  private draw(): void {
    this.timer = null;
    if (this.abort.signal.aborted) return;
    const { dropped } = this.buffer;
    this.onLog({ ...this.log, lines: [...this.buffer.all()], dropped, isWhole: this.log.isWhole && dropped === 0 });
  }

  // 'gap': more was written meanwhile than was read now. Once it is read from further back; then the
  // missing lines are given up.
  private async readOnce(follows: boolean, signal: AbortSignal): Promise<'end' | 'gap'> {
    const { job, attempt, rank } = this.which;
    if (this.gaps < 2) {
      this.buffer.readAgain();
    } else {
      this.buffer.skipGap();
      this.log.isWhole = false;
    }
    const tail = this.gaps === 1 ? tailBytesAgain : tailBytes;
    const query = `attempt=${attempt}&rank=${rank}&tail_bytes=${tail}&follow=${follows}`;
    const response = await openStream(`/api/v1/jobs/${encodeURIComponent(job)}/logs?${query}`, { signal }, beginMs);
    const [source, until] = [response.headers.get('HAI-Log-Source'), response.headers.get('HAI-Log-Until')];
    this.become({ state: follows ? 'following' : 'loading', source, until });
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let read = 0; // bytes
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      heard();
      read += value.byteLength;
      // The first reading may have broken off before it had so much: any of them tells that there is more.
      if (tail === tailBytes && read > tail - longestLine) this.log.isWhole = false;
      if (!this.buffer.push(decoder.decode(value, { stream: true }))) {
        void reader.cancel();
        return 'gap';
      }
      this.timer ??= setTimeout(() => this.draw(), drawMs);
    }
    if (!follows) this.buffer.end();
    return 'end';
  }
}

// Of a rank that has ended each refusal is the last word. While one runs the server may be away for a
// moment.
const isFinal = ({ status }: ApiError, follows: boolean): boolean => status >= 400 && (!follows || status < 500);
