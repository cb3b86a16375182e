import { useEvents } from './queries';
import type { ClusterEvent } from './types';

// The newest events of some kinds, which go on as they happen (eventLists.ts).
export function useEventLog(kinds: readonly string[], pages: number, isOn = true): { events: readonly ClusterEvent[] | undefined; error: Error | null; isPending: boolean } {
  const { data, error, isPending } = useEvents(kinds, pages, isOn);
  return { events: data, error, isPending };
}
