import { useMemo } from 'react';
import { useCluster, useNodesAside } from './queries';
import type { Node } from './types';

// Of each job the nodes that it has and that nothing is heard of: whether it runs there nobody knows.
export function useSilentNodes(): ReadonlyMap<number, readonly Node[]> {
  const cluster = useCluster();
  const { nodes } = useNodesAside(cluster.data?.nodes);
  return useMemo(() => {
    const silent = new Map<number, Node[]>();
    for (const node of nodes ?? []) {
      if (node.liveness === 'up') continue;
      for (const job of node.jobs) silent.set(job, [...(silent.get(job) ?? []), node]);
    }
    return silent;
  }, [nodes]);
}
