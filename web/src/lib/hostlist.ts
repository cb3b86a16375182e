import type { Incident } from '../api/types';

const namesMax = 10_000;

// node-[1-3,7],gpu01 → each name, as the server writes lists of them; padding is kept. What is no such list, or was cut
// off with …, gives the names up to there.
export function expandHosts(text: string): string[] {
  const names: string[] = [];
  for (const [, prefix = '', ranges, suffix = ''] of text.matchAll(/(?<=^|,)([\w.-]+)(?:\[([\d,-]+)\]([\w.-]*))?(?=,|$)/g)) {
    if (ranges === undefined) names.push(prefix);
    for (const range of ranges?.split(',') ?? []) {
      const [first = '', last = first] = range.split('-');
      for (let at = Number(first); at <= Number(last) && names.length < namesMax; at += 1) names.push(prefix + String(at).padStart(first.length, '0') + suffix);
    }
  }
  return names;
}

const gone = /^(\S+) (?:back|removed)$/;

// All nodes that an incident ever concerned, as far as it says so. The server takes those that are back off its list and
// notes their names; what is left when it closes are the last ones.
export function everConcerned({ nodes, notes }: Incident): string[] {
  const left = (notes ?? []).flatMap(({ text }) => expandHosts(gone.exec(text)?.[1] ?? ''));
  return [...new Set([...nodes, ...left])].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
