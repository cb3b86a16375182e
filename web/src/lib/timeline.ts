import type { Attempt, ClusterEvent, Job } from '../api/types';

// A job's life as one line: queued, starting, running, suspending, and why each stretch ended.
export type Phase = 'queued' | 'suspended' | 'starting' | 'running' | 'suspending' | 'ended';

export interface Segment {
  phase: Phase;
  from: number;
  to: number;
  attempt: number | null;
  reason: string;
}

const at = (time: string): number => Date.parse(time);

function suspendingAt(events: readonly ClusterEvent[], attempt: number): ClusterEvent | undefined {
  return events.find(
    (event) => event.kind === 'attempt_suspending' && Number(event.body.attempt) === attempt,
  );
}

function attemptSegments(attempt: Attempt, events: readonly ClusterEvent[], now: number): Segment[] {
  const end = attempt.ended_at ? at(attempt.ended_at) : now;
  const running = attempt.running_at ? at(attempt.running_at) : end;
  const segments: Segment[] = [];
  const add = (phase: Phase, from: number, to: number, reason: string): void => {
    if (to >= from) segments.push({ phase, from, to, attempt: attempt.attempt, reason });
  };
  add('starting', at(attempt.placed_at), running, attempt.running_at ? '' : (attempt.end_reason ?? ''));
  if (!attempt.running_at) return segments;
  const notice = suspendingAt(events, attempt.attempt);
  const asked = notice ? at(notice.time) : end;
  add('running', running, Math.min(asked, end), notice ? '' : (attempt.end_reason ?? ''));
  if (notice) add('suspending', asked, end, String(notice.body.reason ?? notice.text));
  return segments;
}

export function buildTimeline(
  job: Job,
  attempts: readonly Attempt[],
  events: readonly ClusterEvent[],
  now: number,
): Segment[] {
  const segments: Segment[] = [];
  let cursor = at(job.submitted_at);
  let before = ''; // why the attempt before ended
  for (const attempt of [...attempts].sort((a, b) => a.attempt - b.attempt)) {
    const placed = at(attempt.placed_at);
    if (placed > cursor) {
      segments.push({ phase: before === '' ? 'queued' : 'suspended', from: cursor, to: placed, attempt: null, reason: before });
    }
    segments.push(...attemptSegments(attempt, events, now));
    cursor = attempt.ended_at ? at(attempt.ended_at) : now;
    before = attempt.end_reason ?? 'its attempt ended';
  }
  if (job.state === 'queued' || job.state === 'suspended') {
    const reason = job.pending_reason?.text ?? '';
    segments.push({ phase: job.state, from: cursor, to: now, attempt: null, reason });
  }
  return segments;
}
