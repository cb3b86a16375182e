import { useEffect, useState } from 'react';
import { open } from '../../api/client';
import { LogBuffer } from '../../lib/logBuffer';

export interface Log {
  lines: string[];
  dropped: number;
  state: 'loading' | 'following' | 'ended';
  error: Error | null;
}

const tailBytes = 256 * 1024;
const drawMs = 120;

// The end of a rank's log, and then each line as it is written, in one request.
export function useLog(job: string, attempt: number, rank: number): Log {
  const [log, setLog] = useState<Log>({ lines: [], dropped: 0, state: 'loading', error: null });
  useEffect(() => {
    const abort = new AbortController();
    const buffer = new LogBuffer();
    let timer: ReturnType<typeof setTimeout> | null = null;
    let state: Log['state'] = 'loading';
    const draw = (error: Error | null = null): void => {
      timer = null;
      if (!abort.signal.aborted) setLog({ lines: [...buffer.all()], dropped: buffer.dropped, state, error });
    };
    setLog({ lines: [], dropped: 0, state, error: null });
    const read = async (): Promise<void> => {
      const query = `attempt=${attempt}&rank=${rank}&tail_bytes=${tailBytes}&follow=true`;
      const response = await open(`/api/v1/jobs/${encodeURIComponent(job)}/logs?${query}`, { signal: abort.signal });
      state = 'following';
      draw();
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        buffer.push(value);
        timer ??= setTimeout(draw, drawMs);
      }
      state = 'ended';
      draw();
    };
    read().catch((error: unknown) => {
      state = 'ended';
      draw(error as Error);
    });
    return () => {
      abort.abort();
      if (timer) clearTimeout(timer);
    };
  }, [job, attempt, rank]);
  return log;
}
