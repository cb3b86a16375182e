import { defineConfig } from 'vitest/config';

// A real browser and a stand-in for the server, which can be frozen, killed and upgraded at will. HAI_PATIENCE
// makes all limits so many times as long, on a machine that does other things.
const patience = Number(process.env.HAI_PATIENCE ?? 1);
export default defineConfig({
  test: {
    root: import.meta.dirname, include: ['**/*.front.ts'], fileParallelism: false, testTimeout: 60_000 * patience, hookTimeout: 120_000 * patience,
    expect: { poll: { timeout: 5_000 * patience } },
  },
});
