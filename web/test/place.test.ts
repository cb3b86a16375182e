import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepLatest, keepPlace, readPlace } from '../src/lib/place';

const page = { href: 'http://x/jobs', state: null as unknown, writes: 0, isFull: false };
const target = new EventTarget();
beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(page, { href: 'http://x/jobs', state: null, writes: 0, isFull: false });
  vi.stubGlobal('location', { get href() { return page.href; } });
  vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
  vi.stubGlobal('history', {
    get state() { return page.state; },
    replaceState(state: unknown) {
      if (page.isFull) throw new DOMException('too many calls', 'SecurityError');
      page.writes += 1;
      page.state = state;
    },
  });
});
afterEach(() => {
  vi.runAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('writes twice while a key is held: at once, and when it rests', () => {
  for (let row = 0; row < 90; row += 1) {
    keepPlace('active', row);
    vi.advanceTimersByTime(33);
  }
  expect([page.writes, readPlace('active', -1)]).toEqual([1, 0]);
  vi.advanceTimersByTime(300);
  expect([page.writes, readPlace('active', -1)]).toEqual([2, 89]);
});

it('writes before a click that may lead away', () => {
  keepPlace('scroll', 10);
  keepPlace('selected', [1]);
  target.dispatchEvent(new Event('click'));
  expect(page.state).toEqual({ scroll: 10, selected: [1] });
});

it('writes where a list stands at the click, and nothing of a list that is gone', () => {
  let at: number | undefined = 10;
  keepLatest('scroll', () => at);
  keepLatest('scroll', () => at);
  at = 42;
  target.dispatchEvent(new Event('click'));
  expect(page.state).toEqual({ scroll: 42 });
  keepLatest('scroll', () => at);
  at = undefined;
  vi.advanceTimersByTime(300);
  expect(page.state).toEqual({ scroll: 42 });
});

it('leaves the next page alone', () => {
  keepPlace('active', 1);
  keepPlace('active', 2);
  Object.assign(page, { href: 'http://x/nodes', state: null });
  vi.advanceTimersByTime(300);
  expect(page.state).toBeNull();
});

it('goes on when the browser has had enough, and writes later', () => {
  page.isFull = true;
  keepPlace('active', 1);
  vi.advanceTimersByTime(300);
  page.isFull = false;
  keepPlace('scroll', 5);
  expect(page.state).toEqual({ active: 1, scroll: 5 });
});
