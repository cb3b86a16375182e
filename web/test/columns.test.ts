import { expect, it } from 'vitest';
import { where } from '../src/pages/jobs/columns';
import { at, job } from './builders';

it('shows of a failed job why, and not where it was', () => {
  const failed = job({ state: 'failed', ended_at: at(9), nodes: ['n1', 'n2'], end_reason: 'rank 3 exited with code 7', exit_code: 7 });
  expect(where(failed)).toBe('rank 3 exited with code 7');
});

it('shows of a running job where it is, and of a waiting one why it waits', () => {
  expect(where(job({ state: 'running', nodes: ['n1', 'n2'] }))).toBe('n[1-2]');
  expect(where(job({ pending_reason: { code: 'quota', text: 'quota of ann' } }))).toBe('quota of ann');
});
