import type { ReactNode } from 'react';
import { formatTime } from '../lib/format';
import { useFactsFrom } from '../lib/freshness';
import { Empty } from './states';

interface Asked {
  error: Error | null;
  dataUpdatedAt: number; // milliseconds; of the last good answer
}

// Where nothing is wrong. It says so only while the server says so: unknown is never fine.
export function AllWell({ title, answer, children }: { title: string; answer: Asked; children?: ReactNode }) {
  const since = useFactsFrom() ?? (answer.error ? answer.dataUpdatedAt : null);
  if (since === null) return <Empty title={title}>{children}</Empty>;
  return (
    <Empty title="Nobody knows now">
      At {formatTime(new Date(since).toISOString(), Date.now())}, when the server last said so, nothing was wrong.
    </Empty>
  );
}
