import { useMemo } from 'react';
import { useEventLog } from '../api/eventLog';
import type { ClusterEvent, Node } from '../api/types';
import { formatDuration } from '../lib/format';
import { atLeast, livenessChanges, silentSince } from '../lib/silence';
import { useNow } from '../lib/useNow';

const none: readonly ClusterEvent[] = [];

// The newest changes of liveness by node, while one of these is silent.
export function useLivenessEvents(nodes: readonly Node[]): (name: string) => readonly ClusterEvent[] {
  const isAnySilent = useMemo(() => nodes.some((node) => node.liveness !== 'up'), [nodes]);
  const { events } = useEventLog(livenessChanges, 1, isAnySilent);
  return useMemo(() => {
    const byNode = new Map<string, ClusterEvent[]>();
    for (const event of events ?? none) {
      const list = byNode.get(event.subject);
      if (list) list.push(event);
      else byNode.set(event.subject, [event]);
    }
    return (name) => byNode.get(`node/${name}`) ?? none;
  }, [events]);
}

// Why a node is not open, or not up. "silent for 40s" was true when it was written: the event that brought it
// says since when, and it counts on.
export function Reason({ node, events }: { node: Node; events: readonly ClusterEvent[] }) {
  const now = useNow();
  const since = node.liveness === 'up' ? null : silentSince(node, events);
  return since === null ? <bdi>{atLeast(node.reason)}</bdi> : <>silent for {formatDuration((now - since) / 1000)}</>;
}
