import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { controlJob, controlJobs, moveJob, setPriority } from '../api/actions';
import { useWhoAmI } from '../api/queries';
import { upsertJob } from '../api/jobLists';
import { type Job, type JobVerb, type Priority, priorities } from '../api/types';
import { formatCount, formatWord, isolated } from '../lib/format';
import { mayControl } from '../lib/mayControl';
import { Dialog } from './Dialog';
import { Menu } from './Menu';
import { toast } from './Toasts';

const unfinished = (job: Job): boolean => ['queued', 'running', 'suspended'].includes(job.state);

export const verbs: { verb: JobVerb; title: string; effect: string; fits: (job: Job) => boolean }[] = [
  { verb: 'suspend', title: 'Suspend', effect: 'saves and gives its nodes away until it is resumed', fits: (job) => job.state === 'running' },
  { verb: 'resume', title: 'Resume', effect: 'may run again', fits: (job) => job.held && job.state === 'suspended' },
  { verb: 'requeue', title: 'Requeue', effect: 'saves, leaves its nodes and starts again by itself', fits: (job) => job.state === 'running' },
  { verb: 'hold', title: 'Hold', effect: 'does not start until it is released', fits: (job) => !job.held && (job.state === 'queued' || job.state === 'suspended') },
  { verb: 'release', title: 'Release', effect: 'may start', fits: (job) => job.held },
  { verb: 'stop', title: 'Stop', effect: 'ends for good', fits: unfinished },
];

// Several requests at a time, so that a thousand jobs neither take a minute nor flood the server.
const atOnce = 6;

async function forEachJob(jobs: readonly Job[], act: (job: Job) => Promise<Job>): Promise<{ done: Job[]; failed: string[] }> {
  const queue = [...jobs];
  const done: Job[] = [];
  const failed: string[] = [];
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      try {
        done.push(await act(job));
      } catch (error) {
        failed.push(`job ${job.id}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { done, failed };
}

function useJobActions(): (title: string, jobs: readonly Job[], act: (job: Job) => Promise<Job>) => Promise<void> {
  const client = useQueryClient();
  return async (title, jobs, act) => {
    const { done, failed } = await forEachJob(jobs, act);
    for (const job of done) {
      client.setQueryData(['job', String(job.id)], job);
      upsertJob(client, job);
    }
    if (done.length > 0) toast(done.length === 1 ? `${title}: job ${done[0]!.id} ${isolated(done[0]!.name)}` : `${title}: ${done.length} jobs`);
    if (failed.length > 0) toast(failed.slice(0, 3).join('\n') + (failed.length > 3 ? ` and ${failed.length - 3} more` : ''), 'failed');
  };
}

// Many at once in as few requests as the server takes; what became of each job comes with the events.
const bulkMax = 1_000;

function useBulkAction(): (title: string, verb: JobVerb, jobs: readonly Job[], reason: string) => Promise<void> {
  return async (title, verb, jobs, reason) => {
    let done = 0;
    const failed: string[] = [];
    for (let at = 0; at < jobs.length; at += bulkMax) {
      const part = jobs.slice(at, at + bulkMax);
      try {
        for (const result of await controlJobs(part.map((job) => job.id), verb, reason)) {
          if (result.code === 'ok') done += 1;
          else failed.push(`job ${result.name}: ${result.message}`);
        }
      } catch (error) {
        failed.push((error as Error).message);
      }
    }
    if (done > 0) toast(`${title}: ${done} jobs`);
    if (failed.length > 0) toast(failed.slice(0, 3).join('\n') + (failed.length > 3 ? ` and ${failed.length - 3} more` : ''), 'failed');
  };
}

// The buttons of one job, or of all selected ones. Those that would change nothing are not offered, nor
// those that would be refused because the job is another's.
export function JobActions({ jobs: all, onDone }: { jobs: readonly Job[]; onDone?: () => void }) {
  const me = useWhoAmI().data;
  const jobs = all.filter((job) => mayControl(me, job));
  const [asked, setAsked] = useState<(typeof verbs)[number] | null>(null);
  const act = useJobActions();
  const waiting = jobs.filter((job) => job.state === 'queued' || job.state === 'suspended');
  const changePriority = (priority: Priority): void =>
    void act(`priority ${formatWord(priority)}`, jobs.filter(unfinished), (job) => setPriority(job.id, priority)).then(onDone);
  return (
    <span className="row wrap" role="group" aria-label="actions">
      {verbs.map((each) => {
        const fitting = jobs.filter(each.fits);
        if (fitting.length === 0) return null;
        return (
          <button key={each.verb} className={each.verb === 'stop' ? 'button danger' : 'button'} onClick={() => setAsked(each)}>
            {each.title}
            {all.length > 1 && <span className="dim">{formatCount(fitting.length)}</span>}
          </button>
        );
      })}
      {jobs.some(unfinished) && (
        <Menu
          trigger={<button className="button">Priority ▾</button>}
          items={priorities.map((priority) => ({ label: formatWord(priority), onSelect: () => changePriority(priority) }))}
        />
      )}
      {waiting.length === 1 && jobs.length === 1 && (
        <Menu
          trigger={<button className="button">Order ▾</button>}
          items={(['first', 'last'] as const).map((to) => ({
            label: `${to} of my waiting jobs`,
            onSelect: () => void act(`moved ${to}`, waiting, (job) => moveJob(job.id, to)).then(onDone),
          }))}
        />
      )}
      {me && jobs.length < all.length && all.length > 1 && <span className="dim">{formatCount(all.length - jobs.length)} of others</span>}
      {asked && <Ask verb={asked} jobs={jobs.filter(asked.fits)} onClose={() => setAsked(null)} onDone={onDone} />}
    </span>
  );
}

function Ask({ verb, jobs, onClose, onDone }: { verb: (typeof verbs)[number]; jobs: Job[]; onClose: () => void; onDone?: () => void }) {
  const [reason, setReason] = useState('');
  const act = useJobActions();
  const actOnAll = useBulkAction();
  const who = jobs.length === 1 ? `job ${jobs[0]!.id} (${isolated(jobs[0]!.name)})` : `${formatCount(jobs.length)} jobs`;
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    onClose();
    const single = jobs.length === 1;
    void (single ? act(verb.title, jobs, (job) => controlJob(job.id, verb.verb, reason)) : actOnAll(verb.title, verb.verb, jobs, reason)).then(onDone);
  };
  return (
    <Dialog title={`${verb.title} ${who}?`} isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="dim">
          {jobs.length === 1 ? 'It' : 'Each'} {verb.effect}.
        </p>
        <label className="field">
          Reason (others see it)
          <input className="input" value={reason} onChange={(event) => setReason(event.target.value)} autoFocus />
        </label>
        <footer>
          <button type="button" className="button quiet" onClick={onClose}>
            Cancel
          </button>
          <button className={verb.verb === 'stop' ? 'button danger primary' : 'button primary'}>{verb.title}</button>
        </footer>
      </form>
    </Dialog>
  );
}
