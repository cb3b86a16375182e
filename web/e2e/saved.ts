import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

// The file that the browser saves upon this.
export async function savedBy(page: Page, act: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}
