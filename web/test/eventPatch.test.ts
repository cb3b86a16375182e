import { describe, expect, it } from 'vitest';
import { collectPatches, patchJob, patchNode } from '../src/api/eventPatch';
import { at, event, job, node } from './builders';

describe('patchJob', () => {
  it('follows a job from its placement to its end', () => {
    const steps = [
      event('attempt_placed', 'job/1', 5, { attempt: 1 }),
      event('attempt_starting', 'job/1', 6, { attempt: 1 }),
      event('attempt_running', 'job/1', 7, { attempt: 1 }),
    ];
    const running = steps.reduce(patchJob, job({ pending_reason: { code: 'resources', text: '' } }));
    expect(running).toEqual(job({ state: 'running', attempt: 1, attempt_state: 'running', started_at: at(5), running_at: at(7) }));
    const done = patchJob(running, event('job_finished', 'job/1', 9, { state: 'failed', exit_code: 3, reason: 'rank 0' }));
    expect(done).toMatchObject({ state: 'failed', exit_code: 3, end_reason: 'rank 0', ended_at: at(9), nodes: [] });
  });

  it('lets a suspended job wait again, and one whose attempt failed be judged by what follows', () => {
    const running = job({ state: 'running', attempt: 1, nodes: ['n1'], attempt_state: 'suspending' });
    expect(patchJob(running, event('attempt_ended', 'job/1', 9, { outcome: 'suspended', lost_gpu_seconds: 5 }))).toMatchObject({
      state: 'suspended', attempt_state: 'suspended', suspend_count: 1, lost_gpu_seconds: 5, nodes: [],
    });
    expect(patchJob(running, event('attempt_ended', 'job/1', 9, { outcome: 'failed' })).state).toBe('running');
  });

  it('counts what the attempts have run', () => {
    const running = job({ state: 'running', attempt: 2, run_seconds: 60, running_at: at(7) });
    expect(patchJob(running, event('attempt_ended', 'job/1', 9, { outcome: 'suspended' }))).toMatchObject({ run_seconds: 62, running_at: null });
  });

  it('leaves the job alone for events it does not know', () => {
    const same = job();
    expect(patchJob(same, event('rank_running', 'job/1', 1))).toBe(same);
  });
});

it('takes the reason away when a node opens again', () => {
  const closed = patchNode(node(), event('node_scheduling_changed', 'node/n1', 1, { scheduling: 'drained', reason: 'disk', by: 'ops' }));
  expect(closed).toMatchObject({ scheduling: 'drained', reason: 'disk', reason_by: 'ops' });
  expect(patchNode(closed, event('node_scheduling_changed', 'node/n1', 2, { scheduling: 'open', reason: '', by: 'ops' })).reason).toBeNull();
});

it('sorts a batch by whom it concerns', () => {
  const patches = collectPatches([
    event('job_submitted', 'job/7', 1), event('attempt_placed', 'job/7', 2), event('node_liveness_changed', 'node/a/b', 3),
    event('quota_set', '', 4), event('incident_opened', '', 5),
  ]);
  expect(patches.jobs.get(7)).toHaveLength(2);
  expect([...patches.nodes.keys()]).toEqual(['a/b']);
  expect(patches.hasNewJobs).toBe(true);
  expect([...patches.touches].sort()).toEqual(['cluster', 'incidents', 'quotas']);
});
