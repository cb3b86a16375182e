import type { Job, Node } from '../api/types';
import { formatReading } from './format';

// GPUs that a job holds. Not gpus - gpus_free: nothing is free on a node that takes no jobs.
export const gpusUsed = (node: Node): number => node.gpu_jobs.filter((job) => job !== null).length;

// Which job has which GPU of a node; an id if the job is not loaded, null: nobody.
export const gpuOwners = (node: Node, jobs: ReadonlyMap<number, Job>): (Job | number | null)[] =>
  Array.from({ length: node.gpus }, (_, gpu) => {
    const id = node.gpu_jobs[gpu] ?? null;
    return id === null ? null : (jobs.get(id) ?? id);
  });

// What a GPU does; of a node that does not report, what it did when it was last heard. It may be of a job that is not
// loaded, and idle without being free.
export function gpuWords(node: Node, gpu: number): string {
  const isUsed = (node.gpu_jobs[gpu] ?? null) !== null;
  const readings = node.gpu_utilization ? `, ${formatReading(node.gpu_utilization[gpu], '%')}, ${formatReading(node.gpu_temperature?.[gpu], '°C')}` : '';
  if (node.liveness !== 'up') return `not known; ${isUsed ? 'in use' : 'idle'}${readings} when it was last heard`;
  return `${isUsed ? 'in use' : node.scheduling === 'open' ? 'free' : 'idle, on a closed node'}${readings}`;
}
