import { expect, it } from 'vitest';
import { findLines, linesMax, LogBuffer, splitStamp } from '../src/lib/logBuffer';

it('joins lines across pieces and shows the unfinished last one', () => {
  const log = new LogBuffer();
  log.push('one\ntw');
  log.push('o\r\nthr');
  expect(log.all()).toEqual(['one', 'two', 'thr']);
});

it('drops the oldest lines beyond its bound', () => {
  const log = new LogBuffer();
  log.push('x\n'.repeat(linesMax + 5));
  expect([log.lines.length, log.dropped]).toEqual([linesMax, 5]);
});

it('takes the stamp off a line', () => {
  expect(splitStamp('2026-11-20T14:52:49.894123Z step 1')).toEqual(['2026-11-20T14:52:49.894123Z', 'step 1']);
  expect(splitStamp('step 1')).toEqual(['', 'step 1']);
});

it('finds lines whatever their case', () => expect(findLines(['Loss', 'x', 'no loss'], 'LOSS')).toEqual([0, 2]));

const stamped = (second: number, text = `line ${second}`): string => `2026-11-20T12:00:${String(second).padStart(2, '0')}.000001Z ${text}`;
const read = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('');

it('goes on without a hole and without a line twice when it is read again', () => {
  const buffer = new LogBuffer();
  buffer.push(read(stamped(1), stamped(2, 'a'), stamped(2, 'b')) + stamped(3).slice(0, 30));
  buffer.readAgain();
  expect(buffer.push(read(stamped(1), stamped(2, 'a')))).toBe(true);
  expect(buffer.push(read(stamped(2, 'b'), stamped(2, 'c'), stamped(3), stamped(4)))).toBe(true);
  expect(buffer.all()).toEqual([stamped(1), stamped(2, 'a'), stamped(2, 'b'), stamped(2, 'c'), stamped(3), stamped(4)]);
});

it('keeps a line that is written again with the same words and time', () => {
  const buffer = new LogBuffer();
  buffer.push(read(stamped(1), stamped(1)));
  buffer.readAgain();
  buffer.push(read(stamped(1), stamped(1), stamped(1)));
  expect(buffer.all()).toHaveLength(3);
});

it('knows that lines are missing, and says so when they are given up', () => {
  const buffer = new LogBuffer();
  buffer.push(read(stamped(1)));
  buffer.readAgain();
  expect(buffer.push(read(stamped(5)))).toBe(false);
  buffer.readAgain();
  expect(buffer.push(read(stamped(1), stamped(2), stamped(5)))).toBe(true);
  expect(buffer.all()).toEqual([stamped(1), stamped(2), stamped(5)]);
  buffer.readAgain();
  expect(buffer.push(read(stamped(9)))).toBe(false);
  buffer.skipGap();
  buffer.push(read(stamped(9)));
  expect(buffer.all().slice(-2)).toEqual(['… lines written meanwhile are not shown here …', stamped(9)]);
});
