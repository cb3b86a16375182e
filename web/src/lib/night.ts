import type { Attempt, Job } from '../api/types';
import { formatDuration, formatGpuHours, formatTimes, secondsBetween } from './format';

// What a job did while its owner was away, in one sentence. Pure.

export const nightSeconds = 16 * 3600; // "last night": since yesterday evening, whenever one looks

// How long its attempts ran of the time since `from`.
export function ranSince(attempts: readonly Attempt[], from: number, now: number): number {
  return attempts.reduce((sum, { running_at, ended_at }) => {
    if (running_at === null) return sum;
    const [begin, end] = [Math.max(from, Date.parse(running_at)), ended_at === null ? now : Date.parse(ended_at)];
    return sum + Math.max(0, (end - begin) / 1000);
  }, 0);
}

export function nightOf(job: Job, attempts: readonly Attempt[], now: number): string {
  // An array has no attempts: its tasks have.
  if (job.array !== null && job.pending_reason) return job.pending_reason.text;
  const from = now - nightSeconds * 1000;
  const ran = ranSince(attempts, from, now);
  const ended = attempts.filter((each) => each.ended_at !== null && Date.parse(each.ended_at) >= from);
  const made = (state: Attempt['state']): number => ended.filter((each) => each.state === state).length;
  const parts: string[] = [];
  if (ran > 0) parts.push(`ran ${formatDuration(ran)}`);
  if (made('suspended') > 0) parts.push(`made room ${formatTimes(made('suspended'))}`);
  if (made('lost') > 0) parts.push(`lost its nodes ${formatTimes(made('lost'))}`);
  if (made('failed') > 0) parts.push(`failed ${formatTimes(made('failed'))}: ${ended.find((each) => each.state === 'failed')?.end_reason ?? 'no reason given'}`);
  if (job.ended_at !== null && secondsBetween(job.ended_at, now) <= nightSeconds) parts.push(job.state === 'failed' && made('failed') > 0 ? 'and that was its end' : `ended: ${job.state}`);
  if (job.checkpoint && secondsBetween(job.checkpoint.at, now) <= nightSeconds) parts.push(`saved step ${job.checkpoint.step} ${formatDuration(secondsBetween(job.checkpoint.at, now))} ago`);
  if (job.lost_gpu_seconds > 0 && ran > 0) parts.push(`${formatGpuHours(job.lost_gpu_seconds)} GPU-hours lost in all`);
  if (parts.length > 0) return parts.join(', ');
  return job.state === 'queued' || job.state === 'suspended' ? 'waited all the time' : 'nothing';
}

// What its owner can do about a job that does not wait; '' = nothing.
export function nextStep(job: Job): string {
  if (job.state === 'failed') {
    return job.exit_code === null || job.exit_code === 0 ? 'Read why it ended, mend it and run it again.' : `Its program ended with ${job.exit_code}: read the end of its log, mend it and run it again.`;
  }
  if (job.state === 'running' && job.checkpoint === null && job.progress_step === null) return 'It reports no checkpoint: whatever it has done is lost if it must make room.';
  return '';
}
