import { expect, it } from 'vitest';
import { linkedPieces } from '../src/lib/linked';

it('makes links of the jobs and the known nodes that a sentence names', () => {
  const nodes = new Set(['node-1', 'gpu.7']);
  const links = (text: string): string[] => linkedPieces(text, nodes).filter((piece) => piece.href !== '').map(({ text: word, href }) => `${word} ${href}`);
  expect(links('job 7 left node-1, gpu.7 and node-10.')).toEqual(['job 7 /jobs/7', 'node-1 /nodes/node-1', 'gpu.7 /nodes/gpu.7']);
  expect(links('it was node-1.')).toEqual(['node-1 /nodes/node-1']);
  expect(links('job/12 was asked, a job that 3 want, node-[1-3] back')).toEqual(['job/12 /jobs/12']);
  expect(linkedPieces('job 7: it, too', nodes).map(({ text }) => text).join('')).toBe('job 7: it, too');
});
