import type { ClusterEvent, Job, Node } from '../api/types';
import { formatCount, formatHosts } from './format';

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

// A node has fallen silent.
const isLoss = ({ kind, body }: ClusterEvent): boolean => kind === 'node_liveness_changed' && body.liveness !== 'up';

// Which nodes have fallen silent since a time: what was foreseen before that is not to be expected any more.
export function lostSince(events: readonly ClusterEvent[], time: string | null): string[] {
  if (time === null) return [];
  const lost = events.filter((event) => isLoss(event) && Date.parse(event.time) > Date.parse(time));
  return [...new Set(lost.map((event) => event.subject.replace(/^node\//, '')))].sort();
}
export const hasLoss = (events: readonly ClusterEvent[]): boolean => events.some(isLoss);

// fire-[0001-0003], or how many where that is too long to read.
export function silentHosts(names: readonly string[], many = 'nodes'): string {
  const hosts = formatHosts(names);
  return hosts.length > 50 ? `${formatCount(names.length)} ${many}` : hosts;
}

// That a job is called running does not say that it runs: of nodes that are silent nobody knows. '' = all are heard.
export function unheard(job: Pick<Job, 'state'>, nodes: readonly Node[] | undefined): string {
  if (job.state !== 'running' || !nodes || nodes.length === 0) return '';
  return `Nothing is heard of ${silentHosts(nodes.map((node) => node.name), 'of its nodes')}: whether it still runs there is not known`;
}
