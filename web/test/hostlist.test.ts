import { expect, it } from 'vitest';
import type { Incident } from '../src/api/types';
import { everConcerned, expandHosts } from '../src/lib/hostlist';

it('reads lists of nodes as the server writes them', () => {
  expect(expandHosts('node-[1-3,7],gpu01')).toEqual(['node-1', 'node-2', 'node-3', 'node-7', 'gpu01']);
  expect(expandHosts('fire-[0098-0101]')).toEqual(['fire-0098', 'fire-0099', 'fire-0100', 'fire-0101']);
  expect(expandHosts('r[1-2]-ib,a.b')).toEqual(['r1-ib', 'r2-ib', 'a.b']);
  expect(expandHosts('')).toEqual([]);
  expect(expandHosts('node-1,nod…')).toEqual(['node-1']);
  expect(expandHosts('node-1,node-[4-…')).toEqual(['node-1']);
});

it('names all nodes that an incident took, and not only those that came back last', () => {
  const at = '2026-11-26T03:00:00Z';
  const notes = [{ at, text: 'node-[1-2],node-4 back' }, { at, text: 'node-9 removed' }, { at, text: 'ann looks at the switch' }, { at, text: 'everything is back' }];
  expect(everConcerned({ nodes: ['node-10', 'node-3'], notes } as Incident)).toEqual(['node-1', 'node-2', 'node-3', 'node-4', 'node-9', 'node-10']);
});
