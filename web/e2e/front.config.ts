import { defineConfig } from 'vitest/config';

// A real browser and a stand-in for the server, which can be frozen, killed and upgraded at will.
export default defineConfig({
  test: { root: import.meta.dirname, include: ['**/*.front.ts'], fileParallelism: false, testTimeout: 60_000, hookTimeout: 120_000 },
});
