import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pauseOrHeard } from '../src/api/watch';
import { untilVisible } from '../src/lib/visible';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('leaves no listener behind at a signal that lives as long as the page', async () => {
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const paused = pauseOrHeard(10, signal);
  await vi.advanceTimersByTimeAsync(10);
  await paused;
  await untilVisible(signal);
  expect(added).toHaveBeenCalledTimes(2);
  expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(added.mock.calls.map(([, listener]) => listener));
});
