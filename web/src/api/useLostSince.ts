import { useMemo } from 'react';
import { livenessChanges, lostSince } from '../lib/silence';
import { useEventLog } from './eventLog';
import { useCluster } from './queries';

// Which nodes have fallen silent since something was foreseen, while any is silent: a forecast counted on them.
export function useLostSince(foreseenAt: string | null): readonly string[] {
  const liveness = useCluster().data?.nodes.liveness ?? {};
  const isAnySilent = Object.entries(liveness).some(([word, nodes]) => word !== 'up' && (nodes ?? 0) > 0);
  const { events } = useEventLog(livenessChanges, 1, isAnySilent);
  return useMemo(() => (isAnySilent ? lostSince(events ?? [], foreseenAt) : []), [isAnySilent, events, foreseenAt]);
}
