import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launch } from './browser';
import { actionMs } from './patience';
import { StandIn } from './standIn';

// What the tests with a stand-in server share: one browser for all files, one server for each.
interface Visit {
  server: StandIn;
  browser: Browser;
  open(path: string, look?: { width?: number; height?: number }): Promise<Page>;
}

let launched: Promise<Browser> | null = null;

export function visit(): Visit {
  const it = {} as Visit;
  beforeAll(async () => {
    it.browser = await (launched ??= launch());
    it.server = new StandIn();
    await it.server.start();
    it.open = async (path, { width = 1366, height = 768 } = {}) => {
      const context = await it.browser.newContext({ viewport: { width, height }, timezoneId: 'UTC', locale: 'en-GB' });
      return openIn(context, it.server.url + path);
    };
  });
  afterAll(async () => {
    for (const context of it.browser.contexts()) await context.close(); // of tests that failed
    await it.server.kill();
  });
  return it;
}

export async function openIn(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(actionMs);
  await page.goto(url);
  return page;
}

// As if the person had gone to another tab, or come back.
export const become = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate((to) => {
    Object.defineProperty(document, 'visibilityState', { value: to, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
