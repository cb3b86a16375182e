import type { ReactNode } from 'react';
import { connection } from '../api/live';
import { formatTime } from '../lib/format';
import { type Asked, doubtSince, useFactsFrom } from '../lib/freshness';
import { useStore } from '../lib/store';
import { useClock } from '../lib/useNow';
import { Empty } from './states';

export function useDoubt(answer: Asked): number | null {
  useClock();
  useFactsFrom();
  const isPaused = useStore(connection) === 'paused';
  return doubtSince(answer, Date.now(), isPaused);
}

// Where nothing is wrong. It says so only while the server says so: unknown is never fine. `since`: when
// the server last said so, if that is not now.
export function AllWell({ title, since, children }: { title: string; since: number | null; children?: ReactNode }) {
  if (since === null) return <Empty title={title}>{children}</Empty>;
  return (
    <Empty title="Nobody knows now">
      At {formatTime(new Date(since).toISOString(), Date.now())}, when the server last said so, nothing was wrong.
    </Empty>
  );
}
