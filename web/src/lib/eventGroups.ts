import type { ClusterEvent } from '../api/types';

// Many events that say the same of many jobs or nodes are one line: "552 jobs failed to launch on
// node-0500" is what an admin has to see, not 552 lines that hide what else happened. Pure.

export interface EventGroup {
  newest: ClusterEvent;
  count: number;
  subjects: number; // different ones
  text: string; // with … where the events differ in numbers
}

const togetherMs = 60_000;
const fewest = 3;

// What is left of a text when the numbers that stand by themselves are taken out: "attempt 2 ended"
// and "attempt 3 ended" are alike, node-1 and node-2 are not, nor exit codes.
const shapeOf = (text: string): string => text.replaceAll(/(?<![\w-]|code )\d+(?![\w-])/g, '…');

// Newest first, as the events; a group stands where its newest event stood.
export function groupEvents(events: readonly ClusterEvent[], most: number): EventGroup[] {
  const groups: (EventGroup & { key: string; names: Set<string>; all: ClusterEvent[] })[] = [];
  const open = new Map<string, (typeof groups)[number]>();
  for (const event of events) {
    const noun = event.subject.split('/')[0]!;
    const key = `${event.kind} ${noun} ${shapeOf(event.text)}`;
    const at = Date.parse(event.time);
    const group = open.get(key);
    if (group && Date.parse(group.newest.time) - at <= togetherMs) {
      group.count += 1;
      group.names.add(event.subject);
      group.all.push(event);
    } else {
      const made = { key, newest: event, count: 1, subjects: 1, text: event.text, names: new Set([event.subject]), all: [event] };
      groups.push(made);
      open.set(key, made);
    }
  }
  // Two of a kind stay two lines, each with its link.
  const lines = groups.flatMap((group): EventGroup[] =>
    group.count < fewest || group.names.size < fewest
      ? group.all.map((event) => ({ newest: event, count: 1, subjects: 1, text: event.text }))
      : [{ newest: group.newest, count: group.count, subjects: group.names.size, text: group.all.every((event) => event.text === group.newest.text) ? group.newest.text : shapeOf(group.newest.text) }],
  );
  return lines.sort((a, b) => b.newest.seq - a.newest.seq).slice(0, most);
}
