import type { ClusterEvent } from '../api/types';
import { formatDuration } from './format';

// Many events that say the same of many jobs or nodes are one line: "552 jobs failed to launch on
// node-0500" is what an admin has to see, not 552 lines that hide what else happened. Pure.

export interface EventGroup {
  newest: ClusterEvent;
  count: number;
  names: string[]; // the different subjects, the newest first
  text: string; // with … where the events differ in numbers
  all: readonly ClusterEvent[];
}

const togetherMs = 60_000;
const fewest = 3;

// What is left of a text when the numbers that stand by themselves are taken out: "attempt 2 ended"
// and "attempt 3 ended" are alike, node-1 and node-2 are not, nor exit codes.
export const shapeOf = (text: string): string => text.replaceAll(/(?<![\w-]|code )\d+(?![\w-])/g, '…');

// As the first says it, if all say the same.
export const commonText = (texts: readonly string[]): string => (texts.every((each) => each === texts[0]) ? (texts[0] ?? '') : shapeOf(texts[0] ?? ''));

// Newest first, as the events; a group stands where its newest event stood. `isOfOne`: what one job or node
// does again and again is a group, too.
export function groupEvents(events: readonly ClusterEvent[], most = Number.POSITIVE_INFINITY, isOfOne = false): EventGroup[] {
  const groups: ClusterEvent[][] = [];
  const open = new Map<string, ClusterEvent[]>();
  for (const event of events) {
    const key = `${event.kind} ${event.subject.split('/')[0]!} ${shapeOf(event.text)}`;
    const group = open.get(key);
    if (group && Date.parse(group[0]!.time) - Date.parse(event.time) <= togetherMs) group.push(event);
    else {
      const made = [event];
      groups.push(made);
      open.set(key, made);
    }
  }
  // Two of a kind stay two lines, each with its link.
  const lines = groups.flatMap((all): EventGroup[] => {
    const names = [...new Set(all.map((event) => event.subject))];
    if (all.length < fewest || (names.length < fewest && !(isOfOne && names.length === 1))) return all.map((event) => groupOf([event]));
    return [groupOf(all)];
  });
  return lines.sort((a, b) => b.newest.seq - a.newest.seq).slice(0, most);
}

const groupOf = (all: readonly ClusterEvent[]): EventGroup => ({
  newest: all[0]!, count: all.length, names: [...new Set(all.map((event) => event.subject))], text: commonText(all.map((event) => event.text)), all,
});

// In the last minute, in the last 3 minutes; of what is over for long, how long it went on.
export function spanOf({ newest, all }: EventGroup, now: number): string {
  const oldest = Date.parse(all.at(-1)!.time);
  const minutes = Math.max(1, Math.ceil((now - oldest) / 60_000));
  if (minutes <= 60) return minutes === 1 ? 'in the last minute' : `in the last ${minutes} minutes`;
  return `within ${formatDuration(Math.max(1, (Date.parse(newest.time) - oldest) / 1000))}`;
}

// Where those can be seen that a group is about; '' = nowhere together.
export function placeOf({ newest: { kind, subject, body } }: EventGroup): string {
  if (subject.startsWith('node/')) {
    if (kind === 'node_liveness_changed' && body.liveness !== 'up') return '/nodes?liveness=not_up';
    return kind === 'node_scheduling_changed' && body.scheduling !== 'open' ? '/nodes?scheduling=closed' : '/nodes';
  }
  if (!subject.startsWith('job/')) return '';
  const state = String(kind === 'job_finished' ? body.state : kind === 'attempt_ended' ? body.outcome : '');
  if (['failed', 'succeeded', 'stopped', 'suspended'].includes(state)) return `/jobs?state=${state}`;
  return kind === 'job_requeued' || kind === 'attempt_suspending' ? '/jobs' : '/jobs?state=all';
}
