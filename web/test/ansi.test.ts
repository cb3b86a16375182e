import { expect, it } from 'vitest';
import { lookAfter, plainText, spansOf } from '../src/lib/ansi';

const esc = '\u001b';

it('gives colours and marks as classes, and leaves other sequences out', () => {
  expect(spansOf('plain')).toEqual([{ text: 'plain', style: '' }]);
  expect(spansOf(`${esc}[31;1mred${esc}[0m and ${esc}[94mblue${esc}[39m`)).toEqual([
    { text: 'red', style: 'fg1 bold' },
    { text: ' and ', style: '' },
    { text: 'blue', style: 'fg4' },
  ]);
  expect(plainText(`${esc}]0;title\u0007a${esc}[2Jb${esc}(Bc${esc}[38;5;196md${esc}[m`)).toBe('ab' + 'Bc' + 'd');
  expect(spansOf(`${esc}[38;5;196mred${esc}[38;2;20;200;30mgreen${esc}[48;5;1mstill${esc}[22;24m`).map((span) => span.style)).toEqual(['fg1', 'fg2']);
});

it('ends in the middle of a sequence without harm', () => {
  for (const text of [`a${esc}`, `a${esc}[`, `a${esc}[31`, `a${esc}]0;x`]) expect(plainText(text)).toMatch(/^a/);
});

it('writes over what stood before a carriage return', () => {
  expect(plainText('  1%|\r 50%|\r100%|')).toBe('100%|');
  expect(plainText('abcdef\rxy')).toBe('xycdef');
  expect(plainText('abc\r')).toBe('abc');
  expect(plainText(`long before\r${esc}[Kshort`)).toBe('short');
  expect(plainText(`bar ${esc}[32m 10%${esc}[0m\rbar ${esc}[32m100%${esc}[0m`)).toBe('bar 100%');
  expect(plainText('漢字漢字\rab')).toBe('ab漢字');
});

it('erases to the end, to the beginning and all of the line', () => {
  expect(plainText(`abcdef\rab${esc}[K`)).toBe('ab');
  expect(plainText(`abcdef\rab${esc}[1Kx`)).toBe('  xdef');
  expect(plainText(`abc${esc}[2K\rx`)).toBe('x');
});

it('colours what is written over as it was when it was written', () => {
  expect(spansOf(`${esc}[31mabc\r${esc}[32mx${esc}[0m`)).toEqual([{ text: 'x', style: 'fg2' }, { text: 'bc', style: 'fg1' }]);
});

it('goes on with a colour over lines, until it is changed', () => {
  const first = lookAfter(`plain ${esc}[1;31mred`, '');
  expect(first).toBe('fg1 bold');
  expect(lookAfter('and nothing else', first)).toBe('fg1 bold');
  expect(spansOf('and nothing else', first)).toEqual([{ text: 'and nothing else', style: 'fg1 bold' }]);
  expect(spansOf(`still${esc}[22m red${esc}[0m plain`, first)).toEqual([
    { text: 'still', style: 'fg1 bold' }, { text: ' red', style: 'fg1' }, { text: ' plain', style: '' },
  ]);
  expect(lookAfter(`still${esc}[22m red${esc}[m`, first)).toBe('');
  expect(lookAfter(`bar${esc}[32m 1%\r${esc}[K`, '')).toBe('fg2');
});
