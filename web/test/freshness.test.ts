import { afterEach, expect, it } from 'vitest';
import { doubtSince, factsFrom, silence, staleSince } from '../src/lib/freshness';

const now = 1_000_000;
const answer = { error: null, dataUpdatedAt: now - 20_000 };
afterEach(() => {
  silence.set(null);
  staleSince.set(null);
});

it('knows what was just said, and nothing after it', () => {
  expect(doubtSince(answer, now, false)).toBeNull();
  expect(doubtSince({ ...answer, error: new Error('x') }, now, false)).toBe(answer.dataUpdatedAt);
  expect(doubtSince(answer, now, true)).toBe(answer.dataUpdatedAt); // a tab that was hidden
  expect(doubtSince({ ...answer, dataUpdatedAt: now - 61_000 }, now, false)).toBe(now - 61_000); // a laptop that slept
  silence.set({ since: now - 5_000, why: '' });
  expect(doubtSince(answer, now, false)).toBe(now - 5_000);
});

it('does not take facts that were old for newer when the server falls silent, too', () => {
  staleSince.set(now - 60_000);
  silence.set({ since: now - 5_000, why: '' });
  expect(factsFrom()).toBe(now - 60_000);
});
