import type { ClusterEvent, Node } from '../api/types';

// The events that tell of it.
export const livenessChanges = ['node_liveness_changed'];

// Of a node that does not report: what it said last is not what is.
export const healthOf = (node: Pick<Node, 'liveness' | 'health'>): string => (node.liveness === 'up' ? node.health : 'unknown');

const unitSeconds: Record<string, number> = { d: 86_400, h: 3_600, m: 60, s: 1 };
const pattern = /silent for ((?:\d+[dhms]\s?)+)$/;

// Seconds in a reason like "silent for 1m 10s", null in any other.
function silentSeconds(reason: string | null): number | null {
  const found = pattern.exec(reason ?? '')?.[1];
  if (!found) return null;
  return [...found.matchAll(/(\d+)([dhms])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!, 0);
}

// Milliseconds since 1970: when it was last heard, if its reason says so and the event that brought the
// reason is among these.
export function silentSince(node: Node, events: readonly ClusterEvent[]): number | null {
  const seconds = silentSeconds(node.reason);
  const event = events.find((each) => each.kind === 'node_liveness_changed' && each.body.reason === node.reason);
  return seconds === null || !event ? null : Date.parse(event.time) - seconds * 1000;
}

// Where the event is not known: the time was measured once and has gone on since.
export const atLeast = (reason: string | null): string => (reason ?? '').replace(pattern, 'silent for more than $1');
