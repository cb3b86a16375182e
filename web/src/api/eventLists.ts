import type { QueryClient } from '@tanstack/react-query';
import { eventsOfOnePage } from '../lib/losses';
import type { ClusterEvent } from './types';

// The cached lists of events, each of some kinds and the newest first, go on with what the stream tells: however many
// other events come, no list loses one of its own, and each keeps as many as were asked for.

type Listener = (events: readonly ClusterEvent[]) => void;
const listeners = new Set<Listener>();

export const eventListKey = (kinds: readonly string[], pages: number) => ['events', kinds.join(','), pages] as const;

// `fresh`: the oldest first, as they come.
function extend(list: ClusterEvent[], fresh: readonly ClusterEvent[], pages: number): ClusterEvent[] {
  const newest = list[0]?.seq ?? 0;
  const more = fresh.filter((event) => event.seq > newest);
  return more.length === 0 ? list : more.reverse().concat(list).slice(0, pages * eventsOfOnePage);
}

export function extendEventLists(client: QueryClient, events: readonly ClusterEvent[]): void {
  for (const listener of listeners) listener(events);
  for (const { queryKey, state } of client.getQueryCache().findAll({ queryKey: ['events'] })) {
    const list = state.data as ClusterEvent[] | undefined;
    if (!list) continue; // it is on its way, and gets them then
    const [, kinds, pages] = queryKey as unknown as ReturnType<typeof eventListKey>;
    const next = extend(list, ofKinds(events, kinds.split(',')), pages);
    if (next === list) continue;
    // What is put in makes a list no newer.
    const { isInvalidated, dataUpdatedAt } = state;
    client.setQueryData(queryKey, next, { updatedAt: dataUpdatedAt });
    if (isInvalidated) void client.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  }
}

const ofKinds = (events: readonly ClusterEvent[], kinds: readonly string[]): ClusterEvent[] => events.filter(({ kind }) => kinds.includes(kind));

// An answer, with what the stream tells while it is on its way: the answer may have been made before that.
export async function withLater(kinds: readonly string[], pages: number, ask: () => Promise<ClusterEvent[]>): Promise<ClusterEvent[]> {
  let later: ClusterEvent[] = [];
  const listener: Listener = (events) => (later = [...later, ...ofKinds(events, kinds)].slice(-pages * eventsOfOnePage));
  listeners.add(listener);
  try {
    return extend(await ask(), later, pages);
  } finally {
    listeners.delete(listener);
  }
}
