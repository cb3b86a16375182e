import { defineConfig } from 'vitest/config';
import { patience } from './patience.ts';

// A real browser and a stand-in for the server, which can be frozen, killed and upgraded at will. All files share one
// worker, and so its browser, its page, the stand-in and the demo's world (visit.ts). What hangs fails as a test, and
// after three of those the rest is not tried, so that the whole ends in time.
export default defineConfig({
  test: {
    root: import.meta.dirname, include: ['**/*.front.ts'], fileParallelism: false, isolate: false, bail: 3,
    testTimeout: 40_000 * patience, hookTimeout: 30_000 * patience,
    expect: { poll: { timeout: 5_000 * patience } },
  },
});
