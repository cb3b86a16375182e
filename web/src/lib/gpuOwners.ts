import type { Job, Node } from '../api/types';

// Which job has which GPU of a node; null: nobody. The API says how many GPUs of a node are free and
// which jobs are there, not which job has which GPU, so shares are laid out in order of job id.
export function gpuOwners(node: Node, jobs: ReadonlyMap<number, Job>): (Job | number | null)[] {
  const owners: (Job | number | null)[] = new Array<null>(node.gpus).fill(null);
  const used = node.gpus - node.gpus_free;
  let next = 0;
  for (const id of [...node.jobs].sort((a, b) => a - b)) {
    const job = jobs.get(id);
    const share = job && job.gpus_per_node > 0 ? job.gpus_per_node : used - next;
    for (let i = 0; i < share && next < used; i += 1) {
      owners[next] = job ?? id;
      next += 1;
    }
  }
  return owners;
}
