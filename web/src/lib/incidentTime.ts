import type { ClusterEvent, Incident, NodeStay } from '../api/types';

// What of a node's past belongs to an incident. Pure.

const beforeMs = 10 * 60_000; // what brought it about comes before it opens

interface Span {
  from: number; // milliseconds since 1970
  until: number;
}

export const spanOfIncident = ({ opened_at, closed_at }: Incident, now: number): Span => ({
  from: Date.parse(opened_at) - beforeMs,
  until: closed_at === null ? now : Date.parse(closed_at),
});

export const eventsWithin = (events: readonly ClusterEvent[], { from, until }: Span): ClusterEvent[] =>
  events.filter(({ time }) => Date.parse(time) >= from && Date.parse(time) <= until).sort((a, b) => b.seq - a.seq);

export interface StayThen {
  id: number;
  user: string;
  state: string; // of the attempt that was there then
  reason: string;
}

// The jobs that were there then, each once; those that lost their attempt first.
export function staysWithin(stays: readonly NodeStay[], { from, until }: Span): StayThen[] {
  const then = stays.filter((stay) => Date.parse(stay.placed_at) <= until && (stay.ended_at === null || Date.parse(stay.ended_at) >= from));
  const byJob = new Map<number, NodeStay>();
  // Of a job's attempts the first that it hurt.
  for (const stay of [...then].sort((a, b) => a.attempt - b.attempt)) if (!byJob.has(stay.id)) byJob.set(stay.id, stay);
  const isLost = ({ state }: NodeStay): number => (state === 'lost' ? 0 : state === 'failed' ? 1 : 2);
  const sorted = [...byJob.values()].sort((a, b) => isLost(a) - isLost(b) || a.id - b.id);
  return sorted.map(({ id, user, state, end_reason }) => ({ id, user, state, reason: end_reason ?? '' }));
}

// The hours around it, as /history takes them.
export function historyAddress(incident: Incident, now: number): string {
  const { from, until } = spanOfIncident(incident, now);
  const hour = 3_600_000;
  const at = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');
  const query = new URLSearchParams({ since: at(Math.floor(from / hour) * hour), until: at(Math.ceil((until + 1) / hour) * hour), step: '1h' });
  return `/history?${query}`;
}
