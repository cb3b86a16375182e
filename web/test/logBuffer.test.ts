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
