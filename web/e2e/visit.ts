import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach } from 'vitest';
import { isFirefox, launch } from './browser';
import { actionMs } from './patience';
import { StandIn } from './standIn';

// What the tests with a stand-in server share: one browser and one server for all files.
interface Visit {
  server: StandIn;
  browser: Browser;
  // The page, as somebody sees it who has never been here. `isOwn`: in a context of its own, for what would stay with
  // the next test: a clock, files that are kept, a heap.
  open(path: string, look?: { width?: number; height?: number; isOwn?: boolean }): Promise<Page>;
}

let launched: Promise<Browser> | null = null;
let started: Promise<StandIn> | null = null;
// Used again and again, because a new context costs two seconds of both cores.
let kept: Page | null = null;

export function visit(): Visit {
  const it = {} as Visit;
  beforeAll(async () => {
    it.server = await (started ??= startServer());
  });
  // One that has crashed under a test fails that test only.
  beforeEach(async () => {
    const isGone = !(await (launched ??= launch())).isConnected();
    if (isGone) [launched, kept] = [launch(), null];
    it.browser = await launched;
  });
  it.open = async (path, { width = 1366, height = 768, isOwn = false } = {}) => {
    const make = async (): Promise<Page> => blankIn(await it.browser.newContext({ viewport: { width, height }, timezoneId: 'UTC', locale: 'en-GB' }));
    if (!isOwn && kept !== null && !(await hasKeys(kept))) {
      await kept.context().close();
      kept = null;
    }
    const page = isOwn ? await make() : (kept ??= await make());
    if (!isOwn) {
      await forget(page, it.server.url);
      await page.setViewportSize({ width, height });
    }
    await page.goto(it.server.url + path);
    return page;
  };
  // A test leaves nothing to the next one. What one that failed still does ends with its pages.
  afterEach(async ({ task }) => {
    await it.server.reset();
    if (task.result?.state === 'fail' || kept?.isClosed()) kept = null;
    for (const context of it.browser.contexts()) if (context !== kept?.context()) await context.close();
    if (kept === null) return;
    for (const page of kept.context().pages()) if (page !== kept) await page.close();
    await forget(kept, it.server.url);
  });
  return it;
}

// Firefox gives keys to no window behind another, and a field there is never left. After many windows have come and gone
// it brings one that was there before no longer to the front.
async function hasKeys(page: Page): Promise<boolean> {
  if (!isFirefox) return true;
  await page.bringToFront();
  const focused = page.waitForFunction(() => document.hasFocus(), undefined, { timeout: 2_000 });
  return focused.then(() => true, () => false);
}

async function startServer(): Promise<StandIn> {
  const server = new StandIn();
  await server.start();
  await fetch(`${server.url}/api/v1/cluster`); // no test waits for the world to be made
  return server;
}

async function forget(page: Page, url: string): Promise<void> {
  await page.emulateMedia({ colorScheme: null });
  await page.goto(`${url}/favicon.svg`); // where the dashboard does not run
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
}

async function blankIn(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(actionMs);
  return page;
}

export async function openIn(context: BrowserContext, url: string): Promise<Page> {
  const page = await blankIn(context);
  await page.goto(url);
  return page;
}

// As if the person had gone to another tab, or come back.
export const become = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate((to) => {
    Object.defineProperty(document, 'visibilityState', { value: to, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
