import { ApiError } from '../../../api/client';
import { LogPlace } from '../../../api/logPlaces';
import { followLog, type From, type LogPart, partBytes, readPart, type WhichLog } from '../../../api/logs';
import { heard } from '../../../api/pulse';
import { pauseOrHeard, Watch } from '../../../api/watch';
import { type LogBlock, type LogLine, LogWindow } from '../../../lib/logWindow';
import { untilVisible } from '../../../lib/visible';

// One person reads one log: a bounded part of it is here, which moves through the whole, and while the
// rank lives what it writes comes in one request. That is let go while nobody looks and made again when
// it broke; the log goes on at the byte where it ended.

export interface Log {
  blocks: readonly LogBlock[];
  open: LogLine | null; // a last line without its line end
  begin: number; // older bytes are not kept
  size: number;
  start: number; // of what is here
  end: number;
  isOver: boolean; // the log does not grow any more
  state: 'loading' | 'following' | 'paused' | 'elsewhere' | 'asking' | 'lost' | 'ended';
  isMoving: boolean; // another part is being read
  shown: { move: number; at: number | 'end' }; // the part that was asked for last, and its line that is to be seen first
  source: string | null;
  until: string | null;
  error: Error | null;
}
export const noLog: Log = {
  blocks: [], open: null, begin: 0, size: 0, start: 0, end: 0, isOver: false, state: 'loading', isMoving: false, shown: { move: 0, at: 'end' }, source: null, until: null, error: null,
};

export type Target = 'end' | { offset: number } | { since: string };

const bytesMax = 1_500_000; // that are here at once
const linesMax = 3_000;
const drawMs = 120;
const retryMs = 2_000;
const recentMax = 256 * 1024; // what may come while another part is read
const gapMax = 1024 * 1024; // more than that is not read to catch up, but jumped over

export class LogSession {
  private readonly abort = new AbortController();
  private readonly window = new LogWindow();
  private readonly place = new LogPlace();
  private log: Log = { ...noLog };
  private timer: ReturnType<typeof setTimeout> | null = null;
  private moves = 0; // only the last one counts
  private isReading = false;
  private missed: 'before' | 'after' | null = null; // what was asked for meanwhile
  private hasOpened = false;
  private at = 0; // up to where the log has been followed
  private recent = new Uint8Array(0); // the last bytes before that
  // Set by the view: whether what is here may go from the front, because the reader is at the end.
  isAtEnd = true;
  isHeld = false; // something is selected: nothing that is shown goes away

  constructor(
    private readonly which: WhichLog,
    private readonly isRankOver: () => boolean,
    private readonly onLog: (log: Log) => void,
  ) {}

  stop(): void {
    this.abort.abort();
    this.place.close();
    if (this.timer) clearTimeout(this.timer);
  }

  async run(target: Target): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      await untilVisible(signal);
      if (signal.aborted) return;
      const watch = new Watch(signal);
      const taken = new AbortController();
      let next: Log['state'] = 'lost';
      try {
        await this.catchUp(target, watch.signal);
        if (this.log.isOver) return this.become({ state: 'ended' });
        this.place.take(() => taken.abort());
        this.become({ state: 'following', isMoving: false });
        const until = AbortSignal.any([watch.signal, taken.signal]);
        while ((await this.follow(until)) === 'quiet') {
          await this.catchUp(target, until);
          if (this.log.isOver) return this.become({ state: 'ended' });
        }
        next = 'asking'; // it may be the end of the log or of the connection: catching up says which
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && this.isFinal(error)) return this.become({ state: 'ended', error });
        if (!taken.signal.aborted && !watch.isHidden && error instanceof ApiError && error.status !== 0) this.become({ error });
      } finally {
        watch.end();
        this.place.leave();
      }
      if (signal.aborted) return;
      if (taken.signal.aborted) {
        this.become({ state: 'elsewhere' });
        await this.place.untilWanted(signal);
        continue;
      }
      this.become({ state: watch.isHidden ? 'paused' : next, error: this.log.error });
      if (!watch.isHidden) await pauseOrHeard(next === 'asking' ? retryMs / 4 : retryMs, signal);
    }
  }

  private follow(until: AbortSignal): ReturnType<typeof followLog> {
    return followLog(this.which, this.at, until, (bytes) => {
      heard();
      this.take(this.at, bytes);
    });
  }

  // Shows another part of the log.
  async show(target: Target): Promise<void> {
    const move = (this.moves += 1);
    this.become({ isMoving: true, error: null });
    try {
      const part = await this.read(target, this.abort.signal);
      if (move !== this.moves || this.abort.signal.aborted) return;
      this.open(target, part);
      this.become({ isMoving: false });
    } catch (error) {
      if (move === this.moves && !this.abort.signal.aborted) this.become({ isMoving: false, error: error as Error });
    }
  }

  // The part before what is here, and the part behind it; at once only one.
  async extend(side: 'before' | 'after'): Promise<void> {
    const { start, end } = this.window;
    const isThere = side === 'before' ? start > this.log.begin : end < this.log.size;
    if (!isThere || !this.hasOpened) return;
    if (this.isReading) {
      this.missed = side; // nobody may scroll, and so ask, again
      return;
    }
    this.isReading = true;
    const move = this.moves;
    try {
      const from = side === 'before' ? Math.max(this.log.begin, start - partBytes) : end;
      const part = await readPart(this.which, { offset: from }, this.abort.signal, side === 'before' ? start - from : partBytes);
      if (move !== this.moves || this.abort.signal.aborted) return;
      this.measure(part);
      if (side === 'before') this.addBefore(from, part);
      else this.addAfter(part);
      this.draw();
    } catch (error) {
      if (!this.abort.signal.aborted) this.become({ error: error as Error });
    } finally {
      this.isReading = false;
      const { missed } = this;
      this.missed = null;
      // Only for what a move has made vain: else what is drawn now asks by itself.
      if (missed !== null && move !== this.moves && !this.abort.signal.aborted) void this.extend(missed);
    }
  }

  private addBefore(from: number, part: LogPart): void {
    this.window.prepend(part.offset, part.bytes, part.offset > from || part.offset === this.log.begin);
    if (!this.isHeld) this.window.trimEnd(bytesMax, linesMax);
  }

  private addAfter(part: LogPart): void {
    this.window.skipTo(part.offset);
    this.window.append(part.offset, part.bytes);
    this.bridge();
    if (!this.isHeld) this.window.trimStart(bytesMax, linesMax);
  }

  private read(target: Target, signal: AbortSignal): Promise<LogPart> {
    const from: From = target === 'end' ? { tail: partBytes } : 'offset' in target ? { offset: before(target.offset) } : target;
    return readPart(this.which, from, signal);
  }

  private open(target: Target, part: LogPart): void {
    this.measure(part);
    const isAsked = target !== 'end' && 'offset' in target && part.offset === before(target.offset);
    this.window.reset(part.offset, part.bytes, !isAsked || part.offset <= part.begin);
    this.bridge();
    this.hasOpened = true;
    const at = target === 'end' ? target : 'offset' in target ? target.offset : part.offset;
    this.log = { ...this.log, shown: { move: this.log.shown.move + 1, at } };
  }

  // What was written while nobody followed. A rank that is just starting has no log yet, on no node.
  private async catchUp(target: Target, signal: AbortSignal): Promise<void> {
    if (!this.hasOpened) {
      const part = await this.read(target, signal).catch((error: unknown) => {
        if (isNoLog(error) && !this.isRankOver()) return null;
        throw error;
      });
      if (part) this.open(target, part);
      this.hasOpened = true;
      this.at = target === 'end' ? this.window.end : this.log.size;
      return this.become({ error: null });
    }
    const part = await readPart(this.which, { offset: this.at }, signal).catch((error: unknown) => {
      if (isNoLog(error) && !this.isRankOver()) return null;
      throw error;
    });
    if (!part) return;
    this.measure(part);
    if (part.size - this.at > gapMax && !part.isOver) {
      if (this.isAtEnd) this.open('end', await readPart(this.which, { tail: partBytes }, signal));
      this.at = this.isAtEnd ? this.window.end : part.size;
    } else {
      this.take(part.offset, part.bytes); // the rest comes by following, or when it is read
    }
    this.become({ error: null });
  }

  // What came by following while a part was on its way, if it goes on where that ends.
  private bridge(): void {
    if (this.window.end < this.at) this.window.append(this.at - this.recent.length, this.recent);
  }

  private take(offset: number, bytes: Uint8Array): void {
    this.add(offset, bytes);
    const before = offset === this.at ? this.recent : this.recent.subarray(0, 0);
    const all = new Uint8Array(before.length + bytes.length);
    all.set(before);
    all.set(bytes, before.length);
    this.recent = all.slice(-recentMax);
    this.at = offset + bytes.length;
    this.log.size = Math.max(this.log.size, this.at);
    this.timer ??= setTimeout(() => this.draw(), drawMs);
  }

  // At the end of what is here, if that is where the log ended; else it is read when somebody comes there.
  private add(offset: number, bytes: Uint8Array): void {
    if (offset > this.window.end) return;
    const isFull = this.window.end - this.window.start > bytesMax || this.window.lineCount > linesMax;
    if (isFull && !(this.isAtEnd && !this.isHeld)) return;
    this.window.append(offset, bytes);
    if (this.isAtEnd && !this.isHeld) this.window.trimStart(bytesMax, linesMax);
  }

  private measure(part: LogPart): void {
    const { begin, size, isOver, source, until } = part;
    this.log = { ...this.log, begin, size: Math.max(size, this.log.size), isOver: isOver || (until !== null && this.isRankOver()), source, until };
  }

  private become(change: Partial<Log>): void {
    this.log = { ...this.log, ...change };
    this.draw();
  }

  private draw(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.abort.signal.aborted) return;
    const { blocks, start, end } = this.window;
    this.onLog({ ...this.log, blocks, start, end, open: this.window.openLine });
  }

  // Of a rank that has ended each refusal is the last word. While one runs the server may be away for a
  // moment.
  private isFinal({ status }: ApiError): boolean {
    return status >= 400 && (this.isRankOver() || (status < 500 && status !== 404 && status !== 429));
  }
}

const isNoLog = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

// Some lines are shown before the one that was asked for.
const before = (offset: number): number => Math.max(0, offset - partBytes / 4);
