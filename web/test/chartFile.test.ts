import { expect, it } from 'vitest';
import { linesSvg } from '../src/lib/chartFile';
import { csvRows } from '../src/lib/csv';

it('draws a value until the next one, and a gap where nothing is known', () => {
  const svg = linesSvg({ title: 'a < b', times: [0, 1_000, 2_000, 3_000], lines: [{ label: 'used', color: '--gpu-used', values: [0, 10, null, 5] }] });
  expect(svg).toContain('>a &lt; b</text>');
  expect(/ d="([^"]+)"/.exec(svg)![1]).toBe('M60 216H276V44M708 130h1.5');
});

it('writes words as fields and never as formulas', () => {
  expect(csvRows([['name', 'nodes'], ['=1+1', -2], ['a "b", c', null]])).toBe('name,nodes\r\n\'=1+1,-2\r\n"a ""b"", c",\r\n');
});
