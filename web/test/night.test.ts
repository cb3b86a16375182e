import { expect, it } from 'vitest';
import { nextStep, nightOf, ranSince } from '../src/lib/night';
import type { Attempt, Job } from '../src/api/types';

const now = Date.parse('2026-11-24T08:00:00Z');
const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
const attempt = (part: Partial<Attempt>): Attempt => ({ job_id: 1, attempt: 1, state: 'running', placed_at: at(-3), running_at: at(-3), ended_at: null, end_reason: null, exit_code: null, ranks: [], ...part });
const job = (part: Partial<Job>): Job => ({ id: 1, state: 'running', ended_at: null, checkpoint: null, progress_step: null, lost_gpu_seconds: 0, exit_code: null, ...part }) as Job;

it('counts only what ran since yesterday evening', () => {
  expect(ranSince([attempt({ running_at: at(-30), ended_at: at(-15) }), attempt({ running_at: at(-2) }), attempt({ running_at: null })], now - 16 * 3_600_000, now)).toBe(3 * 3600);
});

it('says of an array how far its tasks are, which run for it', () => {
  const array = { range: '0-99', tasks: 100, made: 100, unfinished: 100, succeeded: 0, failed: 0, stopped: 0, to_come: '' };
  const text = 'runs 16 of its 100 tasks; 84 wait, 0 have ended';
  expect(nightOf(job({ state: 'queued', array, pending_reason: { code: 'array', text } }), [], now)).toBe(text);
});

it('tells a night in one sentence', () => {
  const attempts = [attempt({ running_at: at(-2) }), attempt({ state: 'suspended', running_at: at(-6), ended_at: at(-4) }), attempt({ state: 'lost', running_at: at(-9), ended_at: at(-8) })];
  expect(nightOf(job({ checkpoint: { step: 400, path: '', save_seconds: 1, at: at(-1) } }), attempts, now)).toBe('ran 5h, made room once, lost its nodes once, saved step 400 1h ago');
  expect(nightOf(job({ state: 'queued' }), [], now)).toBe('waited all the time');
  expect(nightOf(job({ state: 'failed', ended_at: at(-1) }), [attempt({ state: 'failed', ended_at: at(-1), end_reason: 'rank 3 exited with code 1' })], now)).toBe(
    'ran 2h, failed once: rank 3 exited with code 1, and that was its end',
  );
});

it('says what to do about a failure and about work that nothing saves', () => {
  expect(nextStep(job({ state: 'failed', exit_code: 137 }))).toContain('137');
  expect(nextStep(job({}))).toContain('checkpoint');
  expect(nextStep(job({ progress_step: 5 }))).toBe('');
});
