import type { Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { visit } from './visit';

const site = visit();

const live = (page: Page) => page.getByText('live', { exact: true }).waitFor();
// A test that failed leaves no frozen server to the next.
afterEach(() => site.server.thaw());

const banner = (page: Page) => page.locator('.banner');

it('notices within ten seconds that the server is frozen, and lets no timer go on', async () => {
  const page = await site.open('/jobs?state=running');
  await live(page);
  await page.locator('.grid-row').nth(6).waitFor();
  const width = await page.evaluate(() => document.documentElement.clientWidth);
  site.server.freeze();
  await banner(page).getByText(/No answer from the server/).waitFor({ timeout: 10_000 });
  expect((await banner(page).boundingBox())?.width).toBe(width);
  await page.getByText('offline').waitFor();
  const ages = (): Promise<string[]> => page.locator('.grid-row [role=gridcell]:nth-child(9)').allInnerTexts();
  const before = await ages();
  expect(before.length).toBeGreaterThan(5);
  await banner(page).getByText(/1[2-9]s old/).waitFor();
  expect(await ages()).toEqual(before);
  site.server.thaw();
  await banner(page).waitFor({ state: 'detached' });
  await live(page);
  await page.context().close();
});

it('says so at once when the server is dead, until it is back', async () => {
  const page = await site.open('/incidents');
  await live(page);
  await site.server.kill();
  await banner(page).getByText(/No answer from the server/).waitFor({ timeout: 5_000 });
  await site.server.start();
  await banner(page).waitFor({ state: 'detached' });
  await live(page);
  await page.context().close();
});

const noIncident = (): Response => Response.json({ incidents: [], next_cursor: null });

it('does not call fine what nobody knows', async () => {
  site.server.override = ({ path }) => (path === '/api/v1/incidents' ? noIncident() : null);
  const page = await site.open('/incidents');
  await page.getByText('Nothing is wrong now').waitFor();
  await site.server.kill();
  await page.getByText('Nobody knows now').waitFor();
  expect(await page.getByText('Nothing is wrong now').count()).toBe(0);
  await site.server.start();
  await page.getByText('Nothing is wrong now').waitFor();
  site.server.override = () => null;
  await page.context().close();
});

it('keeps the banner of a dead database through refusals', async () => {
  const page = await site.open('/');
  await live(page);
  site.server.staleSince = new Date(Date.now() - 60_000).toISOString();
  await banner(page).getByText(/can decide nothing now/).waitFor();
  let refused = 0;
  site.server.override = ({ path }) => {
    if (!path.includes('/series') && !path.includes('/incidents')) return null;
    refused += 1;
    return Response.json({ title: 'unavailable', detail: 'no leader', status: 503 }, { status: 503 });
  };
  await page.evaluate(() => {
    const log: boolean[] = [];
    Object.assign(window, { log });
    new MutationObserver(() => log.push(document.querySelector('.banner') !== null)).observe(document.body, { childList: true, subtree: true });
  });
  await page.getByLabel('how far back').selectOption('1h');
  await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThan(1);
  expect(await page.evaluate(() => (window as unknown as { log: boolean[] }).log.includes(false))).toBe(false);
  site.server.override = () => null;
  site.server.staleSince = null;
  await banner(page).waitFor({ state: 'detached' });
  await page.context().close();
});
