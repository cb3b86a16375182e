import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { get } from '../../api/client';
import type { JobPage } from '../../api/types';
import type { Row } from '../../lib/jobRows';
import { withTasks, type TasksOf } from '../../lib/taskRows';

const tasksMax = 1_000; // of each array; its own list has the rest
const none: ReadonlySet<number> = new Set();

// Arrays whose tasks are shown below them.
export function useOpenArrays() {
  const [open, setOpen] = useState(none);
  const toggle = useCallback(
    (id: number) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
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
