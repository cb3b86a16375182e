import type { Job, Node } from '../api/types';

// Which job has which GPU of a node; an id if the job is not loaded, null: nobody.
export const gpuOwners = (node: Node, jobs: ReadonlyMap<number, Job>): (Job | number | null)[] =>
  Array.from({ length: node.gpus }, (_, gpu) => {
    const id = node.gpu_jobs[gpu] ?? null;
    return id === null ? null : (jobs.get(id) ?? id);
  });
