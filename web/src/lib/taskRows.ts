import type { Job } from '../api/types';
import type { Row } from './jobRows';

// The tasks of arrays that are opened in the list of jobs, below them. Pure.

export type TasksOf = ReadonlyMap<number, { jobs: readonly Job[] | null; isWhole: boolean; error: string }>;

export function withTasks(rows: readonly Row[], tasks: TasksOf): Row[] {
  return rows.flatMap((row): Row[] => {
    const found = row.kind === 'job' ? tasks.get(row.job.id) : undefined;
    if (row.kind !== 'job' || !found) return [row];
    const { id, array } = row.job;
    const note = (text: string): Row => ({ kind: 'note', value: `tasks of ${id}`, text, href: `/jobs?state=all&array=${id}` });
    if (!found.jobs) return [row, note(found.error === '' ? 'asking for its tasks…' : `its tasks are not known: ${found.error}`)];
    const jobs = [...found.jobs].sort((a, b) => (a.array_task?.index ?? 0) - (b.array_task?.index ?? 0));
    const below = jobs.map((job): Row => ({ kind: 'job', job }));
    const toCome = (array?.tasks ?? jobs.length) - (array?.made ?? jobs.length);
    if (!found.isWhole) return [row, ...below, note('and more: all its tasks')];
    return toCome > 0 ? [row, ...below, note(`${toCome} still to come: a list of its tasks`)] : [row, ...below];
  });
}
