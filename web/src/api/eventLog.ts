import { useEffect, useMemo } from 'react';
import { useStore } from '../lib/store';
import { recentEvents } from './live';
import { useEvents } from './queries';
import type { ClusterEvent } from './types';

// The newest events of some kinds, those loaded and those that have come since, without a hole between.
export function useEventLog(kinds: readonly string[], pages: number, isOn = true) {
  const past = useEvents(kinds, pages, isOn);
  const recent = useStore(recentEvents);
  const { refetch } = past;
  const loadedTo = past.data?.[0]?.seq ?? 0;
  const hasHole = past.data !== undefined && recent.isCut && (recent.events.at(-1)?.seq ?? 0) > loadedTo + 1;
  useEffect(() => {
    if (hasHole) void refetch();
  }, [hasHole, refetch]);
  const events = useMemo<readonly ClusterEvent[] | undefined>(
    () => past.data && recent.events.filter((event) => event.seq > loadedTo && kinds.includes(event.kind)).concat(past.data),
    [past.data, recent, loadedTo, kinds],
  );
  return { events, error: past.error, isPending: past.isPending };
}
