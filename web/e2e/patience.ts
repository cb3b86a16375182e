import type { Page } from 'playwright-core';

// HAI_PATIENCE makes all limits so many times as long, on a machine that does other things.
export const patience = Number(process.env.HAI_PATIENCE ?? 1);
export const actionMs = 15_000 * patience;

// HAI_ALL=1 looks at each page in each width and each scheme of colours, and keeps the storm up for longer.
export const isAll = process.env.HAI_ALL === '1';

// Goes on within the page, as a link does: that costs a tenth of loading it anew.
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
}
