import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { get } from '../../api/client';
import type { JobPage } from '../../api/types';
import type { Row } from '../../lib/jobRows';
import { useKeptSet } from '../../lib/useKept';
import { withTasks, type TasksOf } from '../../lib/taskRows';

const tasksMax = 1_000; // of each array; its own list has the rest

// Arrays whose tasks are shown below them.
export function useOpenArrays() {
  const { all: open, toggle } = useKeptSet<number>('arrays');
  return useMemo(() => ({ open, toggle }), [open, toggle]);
}

export function useTaskRows(rows: Row[], open: ReadonlySet<number>): Row[] {
  const tasks = useQueries({
    queries: [...open].map((id) => ({
      queryKey: ['tasks', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => get<JobPage>(`/jobs?limit=${tasksMax}&finished=true&array=${id}`, signal),
      refetchInterval: 5_000,
    })),
    combine: (answers): TasksOf =>
      new Map(answers.map(({ data, error }, i) => [[...open][i]!, { jobs: data?.jobs ?? null, isWhole: data?.next_cursor === null, error: error?.message ?? '' }])),
  });
  return useMemo(() => (open.size === 0 ? rows : withTasks(rows, tasks)), [rows, open, tasks]);
}
