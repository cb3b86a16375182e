import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launch } from './browser';
import { StandIn } from './standIn';

// What the tests with a stand-in server share: one browser, one server.
export interface Visit {
  server: StandIn;
  browser: Browser;
  open(path: string, look?: { width?: number; height?: number }): Promise<Page>;
}

export function visit(): Visit {
  const it = {} as Visit;
  beforeAll(async () => {
    it.browser = await launch();
    it.server = new StandIn();
    await it.server.start();
    it.open = async (path, { width = 1366, height = 768 } = {}) => {
      const context = await it.browser.newContext({ viewport: { width, height }, timezoneId: 'UTC', locale: 'en-GB' });
      return openIn(context, it.server.url + path);
    };
  });
  afterAll(async () => {
    await it.browser.close();
    await it.server.kill();
  });
  return it;
}

export async function openIn(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000 * Number(process.env.HAI_PATIENCE ?? 1));
  await page.goto(url);
  return page;
}

// As if the person had gone to another tab, or come back.
export const become = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate((to) => {
    Object.defineProperty(document, 'visibilityState', { value: to, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
