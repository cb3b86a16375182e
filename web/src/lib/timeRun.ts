import type { Job } from '../api/types';

// Seconds that the job's attempts have run by now; what it waited in between does not count.
export function timeRun(job: Pick<Job, 'run_seconds' | 'running_at'>, now: number): number {
  const present = job.running_at ? Math.max(0, (now - Date.parse(job.running_at)) / 1000) : 0;
  return job.run_seconds + present;
}
