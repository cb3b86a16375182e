import { type Job, type JobState, type Priority, jobStates, priorities } from '../api/types';
import type { GroupKey, JobFilter, SortKey } from './jobFilter';

// 100,000 rows within a frame or two: plain comparisons on precomputed keys, no objects per row.
// (TanStack Table makes a row object with closures for each; that alone takes longer.)

export type Row =
  | { kind: 'job'; job: Job }
  | { kind: 'group'; value: string; count: number; gpus: number; isOpen: boolean };

const priorityOrder = new Map<Priority, number>(priorities.map((word, i) => [word, priorities.length - i]));
const stateOrder = new Map<JobState, number>(jobStates.map((word, i) => [word, i]));

function keyOf(sort: SortKey): (job: Job) => number | string {
  if (sort === 'priority') return (job) => priorityOrder.get(job.priority) ?? 0;
  if (sort === 'state') return (job) => stateOrder.get(job.state) ?? 0;
  return (job) => job[sort];
}

export function gpusOf(job: Job, gpusOfNode = 8): number {
  return job.node_count * (job.gpus_per_node > 0 ? job.gpus_per_node : gpusOfNode);
}

export function selectJobs(jobs: readonly Job[], filter: JobFilter): Job[] {
  const text = filter.text.toLowerCase();
  const selected = jobs.filter(
    (job) =>
      (filter.reason === '' || job.pending_reason?.code === filter.reason) &&
      (text === '' ||
        job.name.toLowerCase().includes(text) ||
        job.user.toLowerCase().includes(text) ||
        String(job.id).startsWith(text)),
  );
  return sortJobs(selected, filter.sort, filter.descending);
}

function sortJobs(jobs: Job[], sort: SortKey, descending: boolean): Job[] {
  // As they come: newest first.
  if (sort === 'id' || sort === 'submitted_at') return descending ? jobs : jobs.reverse();
  const key = keyOf(sort);
  const keyed = jobs.map((job) => ({ job, key: key(job) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key < b.key) return -sign;
    if (a.key > b.key) return sign;
    return b.job.id - a.job.id;
  });
  return keyed.map((each) => each.job);
}

export function groupRows(
  jobs: readonly Job[],
  groupBy: GroupKey | null,
  closed: ReadonlySet<string>,
): Row[] {
  if (!groupBy) return jobs.map((job) => ({ kind: 'job', job }));
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const list = groups.get(job[groupBy]);
    if (list) list.push(job);
    else groups.set(job[groupBy], [job]);
  }
  const rows: Row[] = [];
  for (const [value, members] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    const gpus = members.reduce((sum, job) => sum + (job.state === 'running' ? gpusOf(job) : 0), 0);
    const isOpen = !closed.has(value);
    rows.push({ kind: 'group', value, count: members.length, gpus, isOpen });
    if (isOpen) for (const job of members) rows.push({ kind: 'job', job });
  }
  return rows;
}

// How many jobs, nodes and GPUs per value; most GPUs first.
export interface Tally {
  value: string;
  jobs: number;
  nodes: number;
  gpus: number;
}

export function tally(jobs: readonly Job[], key: (job: Job) => string, gpusOfNode = 8): Tally[] {
  const sums = new Map<string, Tally>();
  for (const job of jobs) {
    const value = key(job);
    const sum = sums.get(value) ?? { value, jobs: 0, nodes: 0, gpus: 0 };
    sum.jobs += 1;
    sum.nodes += job.node_count;
    sum.gpus += gpusOf(job, gpusOfNode);
    sums.set(value, sum);
  }
  return [...sums.values()].sort((a, b) => b.gpus - a.gpus || b.jobs - a.jobs);
}
