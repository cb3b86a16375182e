import type { Job } from '../api/types';

// The job file of a job that was submitted before, out of its job_submitted event: flat, only what differs
// from the standard, times in microseconds. What belonged to that one run (its dependencies, when to
// begin) is left out; environment variables are not in the log, since they may be secrets.
type Tree = Record<string, unknown>;

const branch = (tree: Tree, key: string): Tree => (tree[key] as Tree | undefined) ?? {};

export function formatMicroseconds(value: unknown): string | undefined {
  if (typeof value !== 'number') return undefined;
  const units: [string, number][] = [['h', 3_600e6], ['m', 60e6], ['s', 1e6]];
  for (const [unit, size] of units) if (value % size === 0) return `${value / size}${unit}`;
  return `${value / 1e3}ms`;
}

// Without what is undefined, and without what is then empty.
function only(tree: Tree): Tree | undefined {
  const entries = Object.entries(tree).filter(([, value]) => value !== undefined);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

export function recordedSpecToTree(job: Job, spec: Tree): Tree {
  const suspend = branch(spec, 'suspend');
  const period = formatMicroseconds(spec.checkpoint_period_us);
  return only({
    version: 2,
    name: job.name,
    priority: job.priority,
    spec: only({ workspace: job.workspace, entrypoint: job.entrypoint, parameters: job.parameters || undefined }),
    resource: only({
      group: job.zone ? `${job.group}#${job.zone}` : job.group,
      node_count: job.node_count,
      gpus_per_node: job.gpus_per_node || undefined,
      cpus_per_node: spec.cpus_per_node,
      memory_per_node: spec.memory_per_node_bytes,
      image: spec.image,
    }),
    options: only({
      launch: spec.launch,
      env_style: spec.env_style,
      suspend: only({ grace: formatMicroseconds(suspend.grace_us), signal: suspend.signal, exit_code: suspend.exit_code }),
      checkpoint: period && { period },
      restart: spec.restart,
      timeout: formatMicroseconds(spec.timeout_us),
      watchdog: formatMicroseconds(spec.watchdog_us),
      max_leaves: spec.max_leaves,
      cross_zone: spec.cross_zone,
      tags: job.tags.length > 0 ? job.tags : undefined,
    }),
  })!;
}
