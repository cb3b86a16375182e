import { expect, it } from 'vitest';
import { LogWindow, splitStamp } from '../src/lib/logWindow';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const all = Array.from({ length: 1_000 }, (_, i) => `line ${String(i).padStart(4, '0')}\n`).join('');
const lineBytes = 10;
const whole = bytes(all);
const numbers = (window: LogWindow): number[] => window.blocks.flatMap((block) => block.lines.map((line) => Number(line.text.slice(5))));
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

it('splits bytes at line ends wherever they were cut', () => {
  for (const size of [1, 3, 10, 64, 999]) {
    const window = new LogWindow();
    window.reset(0, whole.subarray(0, 0), true);
    for (let at = 0; at < 2_000; at += size) window.append(at, whole.subarray(at, Math.min(at + size, 2_000)));
    expect(numbers(window)).toEqual(range(0, 200));
    expect(window.blocks.map((block) => block.lines.length)).toEqual([100, 100]);
  }
});

it('does not cut letters, and shows a last line without its end', () => {
  const window = new LogWindow();
  const text = bytes('漢字\nopen');
  window.reset(0, text.subarray(0, 2), true);
  window.append(2, text.subarray(2));
  expect(window.blocks[0]!.lines[0]!.text).toBe('漢字');
  expect(window.openLine).toMatchObject({ offset: 7, text: 'open' });
  window.append(11, bytes('ed\n'));
  expect(window.openLine).toBeNull();
  expect(window.blocks[0]!.lines[1]).toMatchObject({ offset: 7, text: 'opened' });
});

it('leaves out the part of a line at its beginning, and goes both ways from there', () => {
  const window = new LogWindow();
  window.reset(4_003, whole.subarray(4_003, 5_003), false);
  expect(numbers(window)).toEqual(range(401, 500));
  expect([window.start, window.end]).toEqual([4_010, 5_003]);
  expect(window.prepend(3_005, whole.subarray(3_005, 4_010), false)).toBe(true);
  expect(window.append(4_800, whole.subarray(4_800, 6_000))).toBe(true);
  expect(numbers(window)).toEqual(range(301, 600));
  expect(window.append(6_010, whole.subarray(6_010, 6_020))).toBe(false);
  expect(window.prepend(0, whole.subarray(0, 3_010), true)).toBe(true);
  expect(numbers(window)).toEqual(range(0, 600));
});

it('keeps what it holds within bounds, by whole blocks', () => {
  const window = new LogWindow();
  window.reset(0, whole, true);
  window.trimStart(5_000, 10_000);
  expect(numbers(window)).toEqual(range(500, 1_000));
  window.trimEnd(3_000, 10_000);
  expect(numbers(window)).toEqual(range(500, 800));
  expect([window.start, window.end]).toEqual([500 * lineBytes, 800 * lineBytes]);
  window.trimEnd(1, 1);
  expect(numbers(window)).toEqual(range(500, 600));
  expect(window.append(6_000, whole.subarray(6_000, 6_500))).toBe(true);
  expect(numbers(window)).toEqual(range(500, 650));
});

it('says where bytes are not kept', () => {
  const window = new LogWindow();
  window.reset(0, whole.subarray(0, 30), true);
  window.skipTo(50);
  window.append(50, whole.subarray(50, 70));
  expect(window.blocks.flatMap((block) => block.lines.map((line) => line.text))).toEqual(['line 0000', 'line 0001', 'line 0002', '… 20 bytes are not kept …', 'line 0005', 'line 0006']);
});

it('takes the time off a line', () => {
  expect(splitStamp('2026-11-20T14:52:49.894Z a\rb')).toEqual(['2026-11-20T14:52:49.894Z', 'a\rb']);
  expect(splitStamp('no time')).toEqual(['', 'no time']);
});
