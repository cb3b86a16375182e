import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../../api/client';
import { type SearchQuery, searchLog } from '../../../api/logs';
import type { LogLine as Found, UnreadLog } from '../../../api/types';
import { pauseOrHeard } from '../../../api/watch';

// A search on the server: steps, each from the cursor of the one before. It goes on by itself when the
// server was away, and ends when nobody wants it any more.
export interface Search {
  query: SearchQuery;
  found: readonly Found[]; // newest attempt first, then by time
  unread: readonly UnreadLog[];
  bytes: number; // looked through
  logsDone: number;
  logs: number;
  state: 'running' | 'waiting' | 'done' | 'stopped' | 'full';
  error: Error | null;
}

const foundMax = 2_000; // then the person says whether to go on
const retryMs = 2_000;

const inOrder = (a: Found, b: Found): number =>
  b.attempt - a.attempt || (a.at ?? '').localeCompare(b.at ?? '') || a.rank - b.rank || a.offset - b.offset;

export function useSearch(job: string) {
  const [search, setSearch] = useState<Search | null>(null);
  const abort = useRef<AbortController | null>(null);
  const cursor = useRef<string | null>(null);
  const latest = useRef<Search | null>(null);
  const become = useCallback((next: Search | null) => {
    latest.current = next;
    setSearch(next);
  }, []);
  useEffect(() => () => abort.current?.abort(), []);

  const run = useCallback(
    async (from: Search, most: number) => {
      abort.current?.abort();
      const { signal } = (abort.current = new AbortController());
      let now: Search = { ...from, state: 'running', error: null };
      become(now);
      while (!signal.aborted) {
        try {
          const step = await searchLog(job, now.query, cursor.current, signal);
          if (signal.aborted) return;
          cursor.current = step.next_cursor;
          const found = [...now.found, ...step.lines].sort(inOrder);
          const state = step.next_cursor === null ? 'done' : found.length >= most ? 'full' : 'running';
          now = { ...now, found, unread: [...now.unread, ...step.unread], bytes: now.bytes + step.bytes, logsDone: step.logs_done, logs: step.logs, state, error: null };
          become(now);
          if (state !== 'running') return;
        } catch (error) {
          if (signal.aborted) return;
          const mayCome = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
          now = { ...now, state: mayCome ? 'waiting' : 'stopped', error: error as Error };
          become(now);
          if (!mayCome) return;
          await pauseOrHeard(retryMs, signal);
        }
      }
    },
    [job, become],
  );

  const start = useCallback(
    (query: SearchQuery) => {
      cursor.current = null;
      void run({ query, found: [], unread: [], bytes: 0, logsDone: 0, logs: 0, state: 'running', error: null }, foundMax);
    },
    [run],
  );
  const goOn = useCallback(() => latest.current && void run(latest.current, latest.current.found.length + foundMax), [run]);
  const stop = useCallback(() => {
    abort.current?.abort();
    if (latest.current) become({ ...latest.current, state: 'stopped' });
  }, [become]);
  const forget = useCallback(() => {
    abort.current?.abort();
    become(null);
  }, [become]);
  return { search, start, goOn, stop, forget };
}
