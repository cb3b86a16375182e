import { defineConfig } from 'vitest/config';
import { patience } from './patience.ts';

// Real programs and a real browser, one story after the other on one cluster. What hangs fails as a test, and after
// three of those the rest is not tried.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.e2e.ts'],
    globalSetup: ['./cluster.ts'],
    fileParallelism: false,
    bail: 3,
    testTimeout: 45_000 * patience,
    hookTimeout: 60_000 * patience,
  },
});
