import type { Job, Node, NodeCheck, Priority } from '../api/types';
import type { Random } from './random';

// Who and what the demo's cluster consists of.
export const users = ['ann', 'ben', 'chen', 'dora', 'emil', 'fatou', 'goran', 'hana', 'ivo', 'jun', 'kofi', 'lena', 'mei', 'nils'];
const models = ['llm-7b', 'llm-67b', 'moe-16b', 'vision-l', 'rl-math', 'ablation', 'tokenizer', 'eval', 'distill', 'reward'];
const steps = ['pretrain', 'sft', 'sweep', 'probe', 'resume', 'bench'];
const levels: Priority[] = ['normal', 'auto', 'low', 'above_normal', 'below_normal', 'high', 'under_normal', 'very_high'];
const sizes = [1, 1, 1, 1, 1, 2, 2, 2, 4, 4, 8, 8, 16, 32, 64];

export const nodeCount = 1_250;
const nodesPerLeaf = 20;
const leavesPerZone = 32;

const well: [name: string, text: string][] = [
  ['clock_skew', '0 ms from the server\'s clock, limit 1000 ms'], ['cpu_count', '128 CPUs online, expected 128'], ['disk_space', '61 % free'],
  ['gpu_count', '8 of 8'], ['gpu_temperature', '47 C, limit 93 C'], ['gpu_xid', 'none seen'], ['gpu_ecc', 'none seen'], ['ib_link', '200 Gb/s, up'],
  ['kernel_lockup', 'none seen'], ['machine_check', 'none seen'], ['memory_size', '1024 GiB'], ['mount', '/data is mounted'],
];
const wellChecks: NodeCheck[] = well.map(([name, text]) => ({ name, subject: '', state: 'ok', tier: 'log', text, evidence: null, done: null, at: new Date().toISOString() }));

export function makeNodes(random: Random): Node[] {
  return Array.from({ length: nodeCount }, (_, i): Node => {
    const leaf = Math.floor(i / nodesPerLeaf);
    const zone = leaf < leavesPerZone ? 'A' : 'B';
    return {
      name: `fire-${String(i + 1).padStart(4, '0')}`,
      group: i >= nodeCount - 40 ? 'dev' : 'training',
      zone,
      leaf: `leaf-${leaf + 1}`,
      liveness: 'up',
      scheduling: 'open',
      reason: null,
      reason_by: null,
      drain_at: null,
      gpus: 8,
      gpus_free: 8,
      jobs: [],
      gpu_jobs: [],
      health: 'ok',
      checks: wellChecks,
      repair: null,
      validation: { passed_at: null, judged_at: null, passed: false, text: null, measured: [] },
      lemon_score: 0,
      lemon_text: null,
      marks: [],
      address: `10.${zone === 'A' ? 1 : 2}.${leaf}.${(i % nodesPerLeaf) + 10}`,
      cpus: 128,
      memory_bytes: 1024 ** 4,
      cpus_free: 128,
      memory_free_bytes: 1024 ** 4,
      gpu_model: 'A100-PCIe-40GB',
      labels: [],
      set: [],
      agent_version: random.chance(0.02) ? '0.0.9' : '0.1.0',
    };
  });
}

export function makeJob(random: Random, id: number, at: string): Job {
  const isShare = random.chance(0.15);
  const name = `${random.pick(models)}-${random.pick(steps)}-${id}`;
  const user = random.pickSkewed(users);
  return {
    id,
    name,
    user,
    group: isShare && random.chance(0.6) ? 'dev' : 'training',
    priority: random.pickSkewed(levels),
    state: 'queued',
    held: random.chance(0.01),
    node_count: isShare ? 1 : random.pickSkewed(sizes),
    gpus_per_node: isShare ? random.pick([1, 2, 4]) : 0,
    submitted_at: at,
    started_at: null,
    ended_at: null,
    attempt: 0,
    array_task: null,
    services: [],
    array: null,
    pending_reason: { code: 'not_considered', text: 'no planning pass has seen it yet' },
    exit_code: null,
    nodes: [],
    suspend_count: 0,
    requeue_count: 0,
    lost_gpu_seconds: 0,
    run_seconds: 0,
    cpu_seconds: null,
    peak_memory_bytes: null,
    running_at: null,
    attempt_state: null,
    end_reason: null,
    zone: null,
    tags: random.chance(0.2) ? [random.pick(['paper', 'nightly', 'baseline'])] : [],
    checkpoint: null,
    progress_step: null,
    whole_life_state: null,
    workspace: `/data/${user}/${name}`,
    entrypoint: 'train.py',
    parameters: `--config ${name}.yaml`,
  };
}
