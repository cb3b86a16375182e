import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readPieces, readRunbooks, runbookOf } from '../src/lib/runbooks';

const text = readFileSync(new URL('../../docs/operations/runbooks.md', import.meta.url), 'utf8');

it('reads the runbooks as sections of paragraphs', () => {
  expect(readRunbooks('# Title\n\nBefore.\n\n## first-one\n\nTwo\nlines.\n\nNext.\n')).toEqual([{ name: 'first-one', paragraphs: ['Two lines.', 'Next.'] }]);
  expect(readPieces('see `hai nodes`, [there](#first-one)')).toEqual([
    { kind: 'text', text: 'see ', href: '' }, { kind: 'code', text: 'hai nodes', href: '' }, { kind: 'text', text: ', ', href: '' },
    { kind: 'link', text: 'there', href: '#first-one' },
  ]);
});

it('has a section for each kind of incident, and for each link', () => {
  const books = readRunbooks(text);
  const names = books.map(({ name }) => name);
  for (const kind of ['mass_loss', 'hang', 'store_went_back', 'name_taken', 'something_new']) expect(names).toContain(runbookOf(kind));
  const links = books.flatMap(({ paragraphs }) => paragraphs.flatMap(readPieces)).filter(({ kind, href }) => kind === 'link' && href.startsWith('#'));
  expect(links.length).toBeGreaterThan(3);
  for (const { href } of links) expect(names).toContain(href.slice(1));
});
