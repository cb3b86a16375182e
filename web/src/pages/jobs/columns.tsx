import { Link } from 'wouter';
import type { Job, Node } from '../../api/types';
import { Badge } from '../../components/Badge';
import type { Brief, Column } from '../../components/GridTable';
import { formatCount, formatDuration, formatEnd, formatHosts, formatPast, formatPlural, formatWord, secondsBetween } from '../../lib/format';
import type { Row } from '../../lib/jobRows';
import { unheard } from '../../lib/silence';
import { timeRun } from '../../lib/timeRun';

type JobColumn = Omit<Column<Row>, 'render'> & { render: (job: Job) => React.ReactNode };

// Of a job that has ended why, of one that waits what for, of one that runs its nodes; `silent`: those of which nothing is heard.
export function where(job: Job, silent?: readonly Node[]): string {
  const doubt = unheard(job, silent);
  if (doubt !== '') return doubt;
  if (job.pending_reason) return job.pending_reason.text;
  if (job.ended_at) return formatEnd(job.end_reason, job.exit_code);
  return job.nodes.length > 0 ? formatHosts(job.nodes) : (job.end_reason ?? '');
}

function age(job: Job, now: number): string {
  if (job.state === 'running') return formatDuration(timeRun(job, now));
  if (job.ended_at) return formatPast(job.ended_at, now);
  return formatDuration(secondsBetween(job.submitted_at, now));
}

interface Choices {
  isSelected: (id: number) => boolean;
  toggle: (id: number) => void;
  arrays: { open: ReadonlySet<number>; toggle: (id: number) => void };
  silent: ReadonlyMap<number, readonly Node[]>; // nodes of jobs of which nothing is heard
}

// An array opens to its tasks, which stand below it.
function Name({ job, arrays }: { job: Job; arrays: Choices['arrays'] }) {
  const name = <Link href={`/jobs/${job.id}`} title={job.name}>{job.name}</Link>;
  if (job.array_task) return <span className="task"><span className="dim">{job.array_task.index}</span> {name}</span>;
  if (!job.array) return name;
  const isOpen = arrays.open.has(job.id);
  return (
    <>
      <button className="fold" aria-expanded={isOpen} aria-label={`tasks of array ${job.id}`} onClick={() => arrays.toggle(job.id)}>
        {isOpen ? '▾' : '▸'}
      </button>
      {name} <span className="dim">{formatCount(job.array.tasks)} tasks</span>
    </>
  );
}

const Where = ({ text }: { text: string }) => <span className="dim" title={text}><bdi>{text}</bdi></span>;

function State({ job, doubt }: { job: Job; doubt: string }) {
  if (doubt !== '') return <span title={doubt}><Badge word="not_heard" /></span>;
  return <Badge word={job.held ? 'held' : stateWord(job)} />;
}

export function jobColumns(now: number, { isSelected, toggle, arrays, silent }: Choices): Column<Row>[] {
  const columns: JobColumn[] = [
    {
      key: 'select',
      title: '',
      width: '1.3rem',
      render: (job) => (
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`select job ${job.id}`}
          checked={isSelected(job.id)}
          onChange={() => toggle(job.id)}
        />
      ),
    },
    { key: 'id', title: 'id', width: '4.2rem', isNumber: true, isSortable: true, render: (job) => <span className="mono dim">{job.id}</span> },
    { key: 'name', title: 'name', width: 'minmax(9rem, 1.2fr)', isSortable: true, render: (job) => <Name job={job} arrays={arrays} /> },
    { key: 'user', title: 'user', width: 'minmax(5rem, 0.5fr)', isSortable: true, render: (job) => job.user },
    { key: 'group', title: 'group', width: '5.5rem', isSortable: true, render: (job) => job.group },
    { key: 'priority', title: 'priority', width: '6.5rem', isSortable: true, render: (job) => formatWord(job.priority) },
    { key: 'state', title: 'state', width: '7rem', isSortable: true, render: (job) => <State job={job} doubt={unheard(job, silent.get(job.id))} /> },
    { key: 'node_count', title: 'nodes', width: '4.2rem', isNumber: true, isSortable: true, render: (job) => <>{formatCount(job.node_count)}{job.gpus_per_node > 0 && <span className="dim">×{job.gpus_per_node}</span>}</> },
    { key: 'submitted_at', title: 'for', width: '5.2rem', isNumber: true, isSortable: true, render: (job) => age(job, now) },
    { key: 'suspend_count', title: 'susp.', width: '3.4rem', isNumber: true, isSortable: true, render: (job) => (job.suspend_count > 0 ? job.suspend_count : '') },
    { key: 'where', title: 'where, or why', width: 'minmax(10rem, 2fr)', render: (job) => <Where text={where(job, silent.get(job.id))} /> },
  ];
  return columns.map((column) => ({ ...column, render: (row) => (row.kind === 'job' ? column.render(row.job) : null) }));
}

// On a phone: whose it is, how large and for how long, and below that where it runs or why not.
export const jobBrief = (now: number, silent: Choices['silent']): Brief<Row> => ({
  lines: 2,
  render: (row) =>
    row.kind === 'job' && (
      <>
        <span>{row.job.user} · {formatPlural(row.job.node_count, 'node')} · {formatWord(row.job.priority)} · {age(row.job, now)}</span>
        <Where text={where(row.job, silent.get(row.job.id))} />
      </>
    ),
});

// While an attempt is on its way, its own word says more than the job's.
export function stateWord(job: Job): string {
  if (job.state === 'running' && job.attempt_state && job.attempt_state !== 'running') {
    if (['placed', 'starting', 'suspending'].includes(job.attempt_state)) return job.attempt_state;
  }
  return job.state;
}
