import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { visit } from './visit';

const site = visit();
const body = (page: Page) => page.locator('.grid-body');

it('shows no GPU of a closed node as free', async () => {
  const page = await site.open('/nodes?scheduling=closed');
  const gpus = page.getByRole('img', { name: /0 of 8 GPUs in use, closed/ }).first();
  await gpus.waitFor();
  const free = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.background = 'var(--gpu-free)';
    return getComputedStyle(probe).backgroundColor;
  });
  const colors = await gpus.locator('i').evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
  expect(colors).toHaveLength(8);
  expect(colors).not.toContain(free);
});

it('does not say that a silent node is well and empty', async () => {
  const page = await site.open('/nodes?liveness=down');
  const row = page.locator('.grid-row').first();
  await row.getByText('unknown').waitFor();
  await row.getByRole('link').first().click();
  await page.getByText('Nothing ran here when it was last heard').waitFor();
});

it('finds on Back the place and what was selected', async () => {
  const page = await site.open('/jobs?state=all');
  await page.locator('.grid-row').first().waitFor();
  await body(page).evaluate((box) => (box.scrollTop = 4_000));
  await page.waitForFunction(() => Object.values((history.state ?? {}) as Record<string, unknown>).includes(4_000));
  const row = page.locator('.grid-row').nth(14);
  const name = await row.getByRole('link').innerText();
  await row.getByRole('checkbox').check();
  await page.getByText('1 selected').waitFor();
  await row.getByRole('link').click();
  await page.getByRole('heading', { name }).waitFor();
  await page.goBack();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('link', { name, exact: true }).waitFor();
  expect(await body(page).evaluate((box) => box.scrollTop)).toBeGreaterThan(3_900);
  await page.getByRole('navigation', { name: 'pages' }).getByRole('link', { name: 'Jobs' }).click();
});

it('opens a page at its top, and where it was left on Back', async () => {
  const page = await site.open('/', { height: 560 });
  await page.getByText('Lately').waitFor();
  const main = page.locator('.main');
  await main.evaluate((box) => (box.scrollTop = 200));
  await page.waitForFunction(() => Object.values((history.state ?? {}) as Record<string, unknown>).includes(200));
  await page.getByRole('navigation', { name: 'pages' }).getByRole('link', { name: 'Quotas' }).click();
  await page.getByRole('heading', { name: 'Users and quotas' }).waitFor();
  expect(await main.evaluate((box) => box.scrollTop)).toBe(0);
  await page.goBack();
  await expect.poll(() => main.evaluate((box) => box.scrollTop)).toBe(200);
});
