import { type ReactNode, useCallback, useDeferredValue, useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useCluster, useJobList, useUsers } from '../api/queries';
import type { Job } from '../api/types';
import { useSilentNodes } from '../api/useSilentNodes';
import { GridTable } from '../components/GridTable';
import { JobActions } from '../components/JobActions';
import { Empty, Failure, Loading } from '../components/states';
import { formatCount, formatPlural, formatTime } from '../lib/format';
import { formatJobFilter, type JobFilter, parseJobFilter, serverQuery, showsTasks, type SortKey } from '../lib/jobFilter';
import { groupRows, type Row, selectJobs } from '../lib/jobRows';
import { useKept, useKeptSet } from '../lib/useKept';
import { useNow } from '../lib/useNow';
import { useSettled } from '../lib/useSettled';
import { useTitle } from '../lib/useTitle';
import { FilterBar } from './jobs/FilterBar';
import { jobBrief, jobColumns } from './jobs/columns';
import { useOpenArrays, useTaskRows } from './jobs/tasks';
import { Views } from './jobs/Views';

const everything = 1_000_000;
const quietMs = 250; // after the last key, before the server is asked

const firstColumns = ['select', 'name', 'state'];

export default function JobsPage() {
  useTitle('Jobs');
  const [, go] = useLocation();
  const [filter, change] = useFilter();
  const [wantsAll, setWantsAll] = useState(false);
  const text = useSettled(filter.text, quietMs);
  const list = useJobList(serverQuery({ ...filter, text }), wantsAll ? everything : 0);
  const arrays = useOpenArrays();
  const rows = useRows(list.jobs, filter, arrays.open);
  const [active, setActive] = useKept('active', -1);
  const { all: selected, setAll: setSelected, toggle } = useKeptSet<number>('selected');
  const now = useNow();
  const silent = useSilentNodes();
  const columns = useColumns(now, selected, toggle, arrays, silent);
  const brief = useMemo(() => jobBrief(now, silent), [now, silent]);
  const chosen = useMemo(() => {
    const tasks = rows.rows.flatMap((row) => (row.kind === 'job' && arrays.open.has(row.job.array_task?.array ?? 0) ? row.job : []));
    return [...list.jobs, ...tasks].filter((job) => selected.has(job.id));
  }, [list.jobs, rows.rows, arrays.open, selected]);
  const loadMore = list.loadMore;
  const onSort = (key: string): void =>
    change(filter.sort === key ? { descending: !filter.descending } : { sort: key as SortKey, descending: key !== 'name' && key !== 'user' });

  return (
    <>
      <div className="page-head">
        <h1>Jobs</h1>
        <Views search={formatJobFilter(filter)} onPick={(next) => go(next === '' ? '/jobs' : `/jobs?${next}`)} />
        {chosen.length > 0 ? (
          <>
            <span className="dim">{formatCount(chosen.length)} selected</span>
            <JobActions jobs={chosen} onDone={() => setSelected(new Set())} />
            <button className="button quiet" onClick={() => setSelected(new Set())}>
              Clear
            </button>
          </>
        ) : (
          <Filters list={list.jobs} filter={filter} change={change} />
        )}
        <span className="grow" />
        {list.isKnown && <Loaded list={list} shown={rows.count} filter={filter} onAll={() => setWantsAll(true)} />}
        {chosen.length === 0 && rows.count > 0 && filter.text + filter.user + filter.priority + filter.reason !== '' && (
          <button className="button quiet small" onClick={() => setSelected(new Set(rows.ids()))}>
            Select all shown
          </button>
        )}
      </div>
      {list.error && <Failure error={list.error} />}
      {list.isLoading ? (
        <Loading lines={12} />
      ) : !list.isKnown ? null : (
        <GridTable<Row>
          label="jobs"
          columns={columns}
          first={firstColumns}
          brief={brief}
          rows={rows.rows}
          rowKey={(row) => (row.kind === 'job' ? row.job.id : `group ${row.value}`)}
          renderGroup={(row) => headOf(row, now)}
          sort={{ key: filter.sort, descending: filter.descending }}
          onSort={onSort}
          active={active}
          onActive={setActive}
          onOpen={(row) => (row.kind === 'job' ? go(`/jobs/${row.job.id}`) : row.kind === 'note' ? go(row.href) : rows.toggleGroup(row.value))}
          isSelected={(row) => row.kind === 'job' && selected.has(row.job.id)}
          onToggle={(row) => row.kind === 'job' && toggle(row.job.id)}
          onEnd={rows.isOfList ? loadMore : undefined}
          empty={rows.isOfList && <Empty title="No job matches">Other states or users may have some.</Empty>}
        />
      )}
    </>
  );
}

// Closures of one function keep alive what any of them uses: what stays as it is while jobs change is made apart, or the
// jobs of its time would stay, too.
function useFilter(): [JobFilter, (part: Partial<JobFilter>) => void] {
  const search = useSearch();
  const [, go] = useLocation();
  const filter = useMemo(() => parseJobFilter(search), [search]);
  const change = useCallback(
    (part: Partial<JobFilter>) => {
      const next = formatJobFilter({ ...filter, ...part });
      go(next === '' ? '/jobs' : `/jobs?${next}`, { replace: true, state: history.state as unknown });
    },
    [filter, go],
  );
  return [filter, change];
}

type Arrays = ReturnType<typeof useOpenArrays>;
type Silent = ReturnType<typeof useSilentNodes>;
const useColumns = (now: number, selected: ReadonlySet<number>, toggle: (id: number) => void, arrays: Arrays, silent: Silent) =>
  useMemo(() => jobColumns(now, { isSelected: (id) => selected.has(id), toggle, arrays, silent }), [now, selected, toggle, arrays, silent]);

function useRows(jobs: Job[], filter: JobFilter, openArrays: ReadonlySet<number>) {
  // Typing stays ahead of filtering 100,000 rows.
  const deferred = useDeferredValue(filter);
  const loaded = useDeferredValue(jobs);
  const { all: toggled, toggle } = useKeptSet<string>('groups');
  const selected = useMemo(() => selectJobs(loaded, deferred), [loaded, deferred]);
  const grouped = useMemo(() => groupRows(selected, deferred.groupBy, toggled), [selected, deferred.groupBy, toggled]);
  const rows = useTaskRows(grouped, openArrays);
  return {
    rows,
    isOfList: loaded === jobs, // else fewer may be drawn than are here
    count: selected.length,
    ids: () => selected.map((job) => job.id),
    toggleGroup: toggle,
  };
}

function headOf(row: Row, now: number): ReactNode | null {
  if (row.kind === 'group') return <GroupHead row={row} />;
  if (row.kind === 'alike') return <AlikeHead row={row} now={now} />;
  return row.kind === 'note' ? <Link href={row.href} className="dim task">{row.text}</Link> : null;
}

function GroupHead({ row }: { row: Extract<Row, { kind: 'group' }> }) {
  return (
    <>
      <span aria-hidden="true">{row.isOpen ? '▾' : '▸'}</span>
      <span>{row.value.replaceAll('_', ' ')}</span>
      <span className="dim">
        {formatCount(row.count)} jobs{row.gpus > 0 && `, ${formatCount(row.gpus)} GPUs in use`}
      </span>
    </>
  );
}

// Failed jobs that say the same: what, how many, when and whose.
function AlikeHead({ row: { cause, jobs, isOpen }, now }: { row: Extract<Row, { kind: 'alike' }>; now: number }) {
  const users = [...new Set(jobs.map((job) => job.user))].sort();
  const [first, last] = [jobs[0]!.ended_at, jobs.at(-1)!.ended_at].map((at) => formatTime(at, now));
  return (
    <>
      <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
      <span style={{ color: 'var(--failed)' }}>{formatCount(jobs.length)} jobs failed</span>
      <bdi className="clip" title={cause}>{cause}</bdi>
      <span className="dim">
        {first === last ? first : `${first} to ${last}`}, of {users.length > 3 ? formatPlural(users.length, 'user') : users.join(', ')}
      </span>
    </>
  );
}

function Filters({ list, filter, change }: { list: Job[]; filter: JobFilter; change: (part: Partial<JobFilter>) => void }) {
  const known = useUsers().data;
  const names = (values: string[]): string[] => [...new Set(values)].sort();
  const users = useMemo(() => known?.map((user) => user.name) ?? names(list.map((job) => job.user)), [known, list]);
  const groups = useMemo(() => names(list.map((job) => job.group)), [list]);
  return <FilterBar filter={filter} users={users} groups={groups} onChange={change} />;
}

// How much of the answer is here: grouping, and sorting of finished jobs, cover only that.
function Loaded({ list, shown, filter, onAll }: { list: ReturnType<typeof useJobList>; shown: number; filter: JobFilter; onAll: () => void }) {
  const counts = useCluster().data?.jobs;
  const isPlain = filter.user + filter.group + filter.priority + filter.tag + filter.reason + filter.text === '';
  const total = counts && isPlain && filter.states.length > 0 ? filter.states.reduce((sum, state) => sum + (counts[state] ?? 0), 0) : null;
  const areFolded = !showsTasks(filter) && list.jobs.some((job) => job.array !== null);
  if (list.isComplete) return <span className="dim">{formatPlural(shown, 'job')}{areFolded && ', each array as one'}</span>;
  const loaded = formatCount(list.jobs.length);
  return (
    <span className="row dim" title="Grouping, and sorting of finished jobs, cover what is loaded">
      {shown < list.jobs.length && `${formatCount(shown)} shown, `}
      {filter.sort === 'id' && filter.descending ? 'newest' : 'first'} {loaded}
      {total !== null && total > list.jobs.length && ` of ${formatCount(total)}${areFolded ? ', with the tasks of arrays' : ''}`}
      <button className="button quiet small" disabled={list.isLoadingMore} onClick={onAll}>
        {list.isLoadingMore ? 'Loading…' : 'Load all'}
      </button>
    </span>
  );
}
