import { useEffect, useRef, useState } from 'react';
import { ApiError, open } from '../../api/client';
import { heard } from '../../api/pulse';
import { pauseOrHeard, Watch } from '../../api/watch';
import { LogBuffer } from '../../lib/logBuffer';
import { untilVisible } from '../../lib/visible';

export interface Log {
  lines: string[];
  dropped: number;
  isWhole: boolean; // from its first line on
  state: 'loading' | 'following' | 'paused' | 'lost' | 'ended';
  error: Error | null;
}

const tailBytes = 256 * 1024;
const tailBytesAgain = 16 * 1024 * 1024; // to find back to where the last reading ended
const longestLine = 64 * 1024;
const drawMs = 120;
const retryMs = 2_000;
const noLog: Log = { lines: [], dropped: 0, isWhole: true, state: 'loading', error: null };

interface Which {
  job: string;
  attempt: number;
  rank: number;
}

// The end of a rank's log, and then each line as it is written, in one request. The request is let go
// while nobody looks, and made again when it broke; the lines go on where they ended.
// `isOver`: the rank has ended, so that the end of the answer is the end of the log.
export function useLog(job: string, attempt: number, rank: number, isOver: boolean): Log {
  const [log, setLog] = useState<Log>(noLog);
  const over = useRef(isOver);
  over.current = isOver;
  useEffect(() => {
    setLog(noLog);
    const reader = new LogReader({ job, attempt, rank }, () => over.current, setLog);
    void reader.run();
    return () => reader.stop();
  }, [job, attempt, rank]);
  return log;
}

class LogReader {
  private readonly abort = new AbortController();
  private readonly buffer = new LogBuffer();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private state: Log['state'] = 'loading';
  private isWhole = true;
  private gaps = 0; // in a row

  constructor(
    private readonly which: Which,
    private readonly isOver: () => boolean,
    private readonly onLog: (log: Log) => void,
  ) {}

  stop(): void {
    this.abort.abort();
    if (this.timer) clearTimeout(this.timer);
  }

  async run(): Promise<void> {
    const { signal } = this.abort;
    while (!signal.aborted) {
      await untilVisible(signal);
      const watch = new Watch(signal);
      try {
        if ((await this.readOnce(watch.signal)) === 'gap') {
          this.gaps += 1;
          continue;
        }
        if (this.isOver()) return this.become('ended');
      } catch (error) {
        const isFinal = error instanceof ApiError && error.status > 0 && error.status < 500;
        if (isFinal && !signal.aborted) return this.become('ended', error);
      } finally {
        watch.end();
      }
      if (signal.aborted) return;
      this.gaps = 0;
      this.become(watch.isHidden ? 'paused' : 'lost');
      if (!watch.isHidden) await pauseOrHeard(retryMs, signal);
    }
  }

  private become(state: Log['state'], error: Error | null = null): void {
    this.state = state;
    this.draw(error);
  }

  private draw(error: Error | null = null): void {
    this.timer = null;
    if (this.abort.signal.aborted) return;
    this.onLog({ lines: [...this.buffer.all()], dropped: this.buffer.dropped, isWhole: this.isWhole && this.buffer.dropped === 0, state: this.state, error });
  }

  // 'gap': more was written meanwhile than was read now. Once it is read from further back; then the
  // missing lines are given up.
  private async readOnce(signal: AbortSignal): Promise<'end' | 'gap'> {
    const { job, attempt, rank } = this.which;
    const isFirst = this.buffer.lines.length === 0;
    if (this.gaps < 2) this.buffer.readAgain();
    else this.buffer.skipGap();
    const tail = this.gaps === 1 ? tailBytesAgain : tailBytes;
    const query = `attempt=${attempt}&rank=${rank}&tail_bytes=${tail}&follow=true`;
    const response = await open(`/api/v1/jobs/${encodeURIComponent(job)}/logs?${query}`, { signal });
    this.become('following');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let read = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'end';
      heard();
      read += value.length;
      if (isFirst && read > tail - longestLine) this.isWhole = false;
      if (!this.buffer.push(value)) {
        void reader.cancel();
        return 'gap';
      }
      this.timer ??= setTimeout(() => this.draw(), drawMs);
    }
  }
}
