import type { Job, Node } from '../api/types';

// GPUs that a job holds. Not gpus - gpus_free: nothing is free on a node that takes no jobs.
export const gpusUsed = (node: Node): number => node.gpu_jobs.filter((job) => job !== null).length;

// Which job has which GPU of a node; an id if the job is not loaded, null: nobody.
export const gpuOwners = (node: Node, jobs: ReadonlyMap<number, Job>): (Job | number | null)[] =>
  Array.from({ length: node.gpus }, (_, gpu) => {
    const id = node.gpu_jobs[gpu] ?? null;
    return id === null ? null : (jobs.get(id) ?? id);
  });
