import { expect, it } from 'vitest';
import { formatMicroseconds, recordedSpecToTree } from '../src/lib/recordedSpec';
import { job } from './builders';

it('makes a job file of what the log recorded', () => {
  const spec = {
    name: 'rich', zone: 'A', node_count: 8, gpus_per_node: 8, cpus_per_node: 1, memory_per_node_bytes: 1_073_741_824,
    launch: 'per_gpu', env_style: 'torch', suspend: { grace_us: 90_000_000, signal: 'SIGUSR1', exit_code: 86 },
    checkpoint_period_us: 420_000_000, restart: { on_failure: true, max: 2 }, timeout_us: 10_800_000_000,
    max_leaves: 3, cross_zone: 'never', tags: ['a'], depends_on: ['s1'], begin_at: '2027-11-20T08:00:00Z',
  };
  const again = job({ name: 'rich', zone: 'A', node_count: 8, gpus_per_node: 8, tags: ['a'], parameters: '-x' });
  expect(recordedSpecToTree(again, spec)).toEqual({
    version: 2,
    name: 'rich',
    priority: 'normal',
    spec: { workspace: '/w', entrypoint: 'a.py', parameters: '-x' },
    resource: { group: 'training#A', node_count: 8, gpus_per_node: 8, cpus_per_node: 1, memory_per_node: 1_073_741_824 },
    options: {
      launch: 'per_gpu', env_style: 'torch', suspend: { grace: '90s', signal: 'SIGUSR1', exit_code: 86 },
      checkpoint: { period: '7m' }, restart: { on_failure: true, max: 2 }, timeout: '3h', max_leaves: 3, cross_zone: 'never',
      tags: ['a'],
    },
  });
});

it('says nothing of what was standard', () => {
  expect(recordedSpecToTree(job(), {})).toEqual({
    version: 2, name: 'j1', priority: 'normal', spec: { workspace: '/w', entrypoint: 'a.py' },
    resource: { group: 'training', node_count: 1 },
  });
});

it('writes durations in the largest whole unit', () => {
  expect([90e6, 420e6, 3_600e6, 1_500_000].map(formatMicroseconds)).toEqual(['90s', '7m', '1h', '1500ms']);
});
