import { type Job, type JobState, type Priority, jobStates, priorities } from '../api/types';
import { commonText, shapeOf } from './eventGroups';
import type { GroupKey, JobFilter, SortKey } from './jobFilter';

// 100,000 rows within a frame or two: plain comparisons on precomputed keys, no objects per row.
// (TanStack Table makes a row object with closures for each; that alone takes longer.)

export type Row =
  | { kind: 'job'; job: Job }
  | { kind: 'group'; value: string; count: number; gpus: number; isOpen: boolean }
  | { kind: 'note'; value: string; text: string; href: string }
  | { kind: 'alike'; value: string; cause: string; jobs: readonly Job[]; isOpen: boolean };

const priorityOrder = new Map<Priority, number>(priorities.map((word, i) => [word, priorities.length - i]));
const stateOrder = new Map<JobState, number>(jobStates.map((word, i) => [word, i]));

function keyOf(sort: SortKey): (job: Job) => number | string {
  if (sort === 'priority') return (job) => priorityOrder.get(job.priority) ?? 0;
  if (sort === 'state') return (job) => stateOrder.get(job.state) ?? 0;
  return (job) => job[sort];
}

export function gpusOf(job: Job, gpusOfNode = 8): number {
  return job.node_count * (job.gpus_per_node === 0 ? gpusOfNode : Math.max(0, job.gpus_per_node)); // -1 = none
}

// Filtered after sorting, so that typing into the filter sorts nothing again.
export function selectJobs(jobs: readonly Job[], filter: JobFilter): Job[] {
  const text = filter.text.toLowerCase();
  const ordered = ascending(jobs, filter.sort);
  const selected = ordered.filter(
    (job) =>
      (filter.reason === '' || job.pending_reason?.code === filter.reason) &&
      (text === '' ||
        job.name.toLowerCase().includes(text) ||
        job.user.toLowerCase().includes(text) ||
        String(job.id).startsWith(text)),
  );
  return filter.descending ? selected.reverse() : selected;
}

// Kept per list and key: turning the order round, or the filter, costs no second sort.
const orders = new WeakMap<readonly Job[], Map<SortKey, readonly Job[]>>();

function ascending(jobs: readonly Job[], sort: SortKey): readonly Job[] {
  const known = orders.get(jobs) ?? new Map<SortKey, readonly Job[]>();
  orders.set(jobs, known);
  const ordered = known.get(sort) ?? sortJobs(jobs, sort);
  known.set(sort, ordered);
  return ordered;
}

// Ties by id. Jobs come newest first.
function sortJobs(jobs: readonly Job[], sort: SortKey): readonly Job[] {
  const oldestFirst = [...jobs].reverse();
  if (sort === 'id' || sort === 'submitted_at') return oldestFirst;
  const key = keyOf(sort);
  const keyed = oldestFirst.map((job) => ({ job, key: key(job) }));
  // Stable, so jobs of one key stay in order of id.
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map((each) => each.job);
}

export function groupRows(
  jobs: readonly Job[],
  groupBy: GroupKey | null,
  toggled: ReadonlySet<string>, // groups that are closed, and what is closed by itself and was opened
): Row[] {
  if (!groupBy) return foldFailures(jobs, toggled);
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const list = groups.get(job[groupBy]);
    if (list) list.push(job);
    else groups.set(job[groupBy], [job]);
  }
  const rows: Row[] = [];
  for (const [value, members] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    const gpus = members.reduce((sum, job) => sum + (job.state === 'running' ? gpusOf(job) : 0), 0);
    const isOpen = !toggled.has(value);
    rows.push({ kind: 'group', value, count: members.length, gpus, isOpen });
    if (isOpen) for (const job of members) rows.push({ kind: 'job', job });
  }
  return rows;
}

const alikeGapMs = 5 * 60_000; // from one that failed to the next
const fewestAlike = 10;

// Failed jobs with one cause, shortly one after another: by each of them, all that it is one of. Programs of several users
// that end with the same code have nothing in common.
function failedAlike(jobs: readonly Job[]): Map<number, Job[]> {
  const byCause = new Map<string, Job[]>();
  for (const job of jobs) {
    if (job.state !== 'failed' || job.ended_at === null) continue;
    const reason = job.end_reason ?? '';
    const cause = `${reason.includes('exited with code') ? job.user : ''} ${job.exit_code} ${shapeOf(reason)}`;
    const list = byCause.get(cause);
    if (list) list.push(job);
    else byCause.set(cause, [job]);
  }
  const found = new Map<number, Job[]>();
  const keep = (run: Job[]): void => {
    if (run.length >= fewestAlike) for (const job of run) found.set(job.id, run);
  };
  for (const list of byCause.values()) {
    if (list.length < fewestAlike) continue;
    const ended = list.map((job) => ({ job, at: Date.parse(job.ended_at!) })).sort((a, b) => a.at - b.at);
    let run: Job[] = [];
    ended.forEach(({ job, at }, i) => {
      if (i > 0 && at - ended[i - 1]!.at > alikeGapMs) {
        keep(run);
        run = [];
      }
      run.push(job);
    });
    keep(run);
  }
  return found;
}

// 552 jobs that failed alike are one line, where the first of them would stand, until it is opened.
export function foldFailures(jobs: readonly Job[], opened: ReadonlySet<string>): Row[] {
  const alike = failedAlike(jobs);
  const rows: Row[] = [];
  const heads = new Map<Job[], number>();
  const members = new Map<Job[], Row[]>();
  for (const job of jobs) {
    const run = alike.get(job.id);
    if (!run) rows.push({ kind: 'job', job });
    else if (heads.has(run)) members.get(run)!.push({ kind: 'job', job });
    else {
      const value = `alike ${run[0]!.id}`;
      heads.set(run, rows.length);
      members.set(run, [{ kind: 'job', job }]);
      rows.push({ kind: 'alike', value, cause: commonText(run.map((each) => each.end_reason ?? 'no reason given')), jobs: run, isOpen: opened.has(value) });
    }
  }
  if (heads.size === 0) return rows;
  const shown = new Map([...heads].map(([run, at]) => [at, members.get(run)!]));
  return rows.flatMap((row, i) => (row.kind === 'alike' && row.isOpen ? [row, ...shown.get(i)!] : [row]));
}

// How many jobs, nodes and GPUs per value; most GPUs first.
interface Tally {
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
