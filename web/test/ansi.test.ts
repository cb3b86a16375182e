import { expect, it } from 'vitest';
import { overwritten, plainText, spansOf } from '../src/lib/ansi';

const esc = '\u001b';

it('gives colours and marks as classes, and leaves other sequences out', () => {
  expect(spansOf('plain')).toEqual([{ text: 'plain', style: '' }]);
  expect(spansOf(`${esc}[31;1mred${esc}[0m and ${esc}[94mblue${esc}[39m`)).toEqual([
    { text: 'red', style: 'fg1 bold' },
    { text: ' and ', style: '' },
    { text: 'blue', style: 'fg4' },
  ]);
  expect(plainText(`${esc}]0;title\u0007a${esc}[2Jb${esc}(Bc${esc}[38;5;196md${esc}[m`)).toBe('ab' + 'Bc' + 'd');
  expect(spansOf(`${esc}[38;5;196mred${esc}[38;2;20;200;30mgreen${esc}[48;5;1mstill${esc}[22;24m`).map((span) => span.style)).toEqual(['fg1', 'fg2', 'fg2']);
});

it('ends in the middle of a sequence without harm', () => {
  for (const text of [`a${esc}`, `a${esc}[`, `a${esc}[31`, `a${esc}]0;x`]) expect(plainText(text)).toMatch(/^a/);
});

it('writes over what stood before a carriage return', () => {
  expect(overwritten('  1%|\r 50%|\r100%|')).toBe('100%|');
  expect(overwritten('abcdef\rxy')).toBe('xycdef');
  expect(overwritten('abc\r')).toBe('abc');
  expect(overwritten(`long before\r${esc}[Kshort`)).toBe('short');
  expect(plainText(`bar ${esc}[32m 10%${esc}[0m\rbar ${esc}[32m100%${esc}[0m`)).toBe('bar 100%');
  expect(overwritten('漢字漢字\rab')).toBe('ab漢字');
});
