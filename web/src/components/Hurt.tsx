import { Fragment } from 'react';
import { Link } from 'wouter';
import { formatCount, formatPlural } from '../lib/format';
import { type Trouble, usersOf } from '../lib/troubles';

const usersMax = 4;

// So many of them with links.
export function JobLinks({ jobs, most }: { jobs: readonly number[]; most: number }) {
  const rest = jobs.length - most;
  return (
    <span className="links">
      {jobs.slice(0, most).map((id, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <Link href={`/jobs/${id}`}>{id}</Link>
        </Fragment>
      ))}
      {rest > 0 && ` and ${formatCount(rest)} more`}
    </span>
  );
}

// Whom a trouble hurts: its jobs with links, `most` of them, whose they are, and the GPUs.
export function Hurt({ trouble, owners, most }: { trouble: Trouble; owners: ReadonlyMap<number, string> | undefined; most: number }) {
  const { jobs, gpus, isWholeLoss, blocks } = trouble;
  const users = usersOf(jobs, owners);
  const names = users === null ? 'users not known yet' : users.length > usersMax ? formatPlural(users.length, 'user') : users.join(', ');
  const rest = [gpus > 0 ? formatPlural(gpus, 'GPU') : '', blocks].filter((each) => each !== '').join('; ');
  if (jobs.length === 0) {
    if (!isWholeLoss) return rest === '' ? 'not known' : `${rest}; and maybe more`;
    if (rest === '') return 'no running job';
    return gpus > 0 && blocks === '' ? `no running job; ${rest} missing` : rest;
  }
  return (
    <>
      {formatPlural(jobs.length, 'job')} of {names}: <JobLinks jobs={jobs} most={most} />
      {rest !== '' && `; ${rest}`}
      {!isWholeLoss && '; and maybe more'}
    </>
  );
}
