import type { Cluster, Node } from '../api/types';
import { gpusUsed } from './gpuOwners';

// All GPUs of the cluster, each counted once.
export interface Capacity {
  total: number;
  used: number; // by jobs on nodes that report
  reserved: number; // held for or promised to a job
  idle: number; // open to any job
  closed: number; // unused, on nodes that people have closed
  broken: number; // unused, on closed nodes with a failed check
  silent: number; // on nodes that do not report: what their jobs do is not known
}

// `aside`: the nodes that are not up or not open. The cluster's own sums count what a silent node's jobs
// hold as used.
export function capacityOf(gpus: Cluster['gpus'], aside: readonly Node[]): Capacity {
  const sum = (nodes: readonly Node[], value: (node: Node) => number): number => nodes.reduce((all, node) => all + value(node), 0);
  const quiet = aside.filter((node) => node.liveness !== 'up');
  const shut = aside.filter((node) => node.liveness === 'up' && node.scheduling !== 'open');
  const silent = sum(quiet, (node) => node.gpus);
  const used = Math.max(0, gpus.used - sum(quiet, gpusUsed));
  const unused = (node: Node): number => node.gpus - gpusUsed(node);
  const broken = sum(shut.filter((node) => node.health === 'fail'), unused);
  const closed = sum(shut, unused) - broken;
  const idle = gpus.free;
  const reserved = Math.max(0, gpus.total - used - idle - closed - broken - silent);
  return { total: gpus.total, used, reserved, idle, closed, broken, silent };
}
