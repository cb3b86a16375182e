import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { HistoryReport } from '../src/api/types';
import { isFirefox } from './browser';
import { savedBy } from './saved';
import { openIn, visit } from './visit';

const site = visit();
const chart = (page: Page, key: string) => page.locator(`[data-chart=${key}]`);

const saved = (page: Page, title: string, form: string) =>
  savedBy(page, async () => {
    await page.getByRole('button', { name: `save ${title}`, exact: true }).click();
    await page.getByRole('menuitem', { name: form }).click();
  });

it('shows failures, waits, use, preemptions, lost work and broken GPUs of the time in the address', async () => {
  const page = await site.open('/history?since=2026-11-02T00:00:00Z&until=2026-11-16T00:00:00Z&step=1d');
  for (const key of ['utilisation', 'broken', 'waits', 'failures', 'preemptions', 'lost', 'jobs', 'checks']) await chart(page, key).waitFor();
  await expect.poll(() => page.getByLabel('From (UTC)').inputValue()).toBe('2026-11-02');
  expect(site.server.count('GET', '/history?since=2026-11-02T00%3A00%3A00.000Z&until=2026-11-16T00%3A00%3A00.000Z&step=1d')).toBeGreaterThan(0);
  expect(await chart(page, 'utilisation').getByRole('img').getAttribute('aria-label')).toMatch(/GPUs used: used \d+(\.\d)? %/);
});

it('lays the time before beside it, and links to exactly that', async () => {
  const page = await site.open('/history?days=7');
  await chart(page, 'failures').waitFor();
  await page.getByLabel('beside the same time before').check();
  await page.waitForURL(/compare=1/);
  await chart(page, 'failures').getByText(/before/).first().waitFor();
  expect(await chart(page, 'failures').locator('path[stroke-dasharray]').count()).toBe(3);
  if (!isFirefox) await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Link to this' }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toMatch(/\/history\?since=.*&until=.*&step=1h&compare=1$/);
  const label = await chart(page, 'jobs').getByRole('img').getAttribute('aria-label');
  await page.goto(link);
  await chart(page, 'jobs').waitFor();
  await page.waitForFunction((wanted) => document.querySelector('[data-chart=jobs] svg')?.getAttribute('aria-label') === wanted, label);
});

it('lays any other week beside one, in the address, the chart and its file', async () => {
  const page = await site.open('/history?since=2026-11-16T00:00:00Z&until=2026-11-23T00:00:00Z&step=1d&compare=1');
  const other = page.getByLabel('or beside the time from (UTC)');
  await expect.poll(() => other.inputValue()).toBe('2026-11-09');
  await other.fill('2026-10-05');
  await page.waitForURL(/beside=2026-10-05T00%3A00%3A00.000Z/);
  await chart(page, 'failures').getByText(/from 2026-10-05 \d/).first().waitFor();
  expect(site.server.count('GET', '/history?since=2026-10-05T00%3A00%3A00.000Z&until=2026-10-12T00%3A00%3A00.000Z&step=1d')).toBe(1);
  const csv = await saved(page, 'Waiting time', 'CSV');
  expect(csv.bytes.toString().split('\r\n')[0]).toBe('time,p50 (s),p90 (s),p50 from 2026-10-05 (s),p90 from 2026-10-05 (s)');
  await page.getByLabel('beside the same time before').uncheck();
  await other.waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('beside');
});

// As large as the page's own, however narrow the chart is.
it('writes letters that can be read on a phone', async () => {
  for (const path of ['/history?days=7', '/queue']) {
    const page = await site.open(path, { width: 360, height: 740 });
    const text = page.locator('main svg text').first();
    await text.waitFor();
    await expect.poll(() => text.evaluate((each) => each.getBoundingClientRect().height)).toBeGreaterThan(10);
  }
});

it('saves each chart as CSV, SVG and PNG', async () => {
  const page = await site.open('/history?since=2026-11-02T00:00:00Z&until=2026-11-09T00:00:00Z&step=1d');
  await chart(page, 'waits').waitFor();
  const csv = await saved(page, 'Waiting time', 'CSV');
  expect(csv.name).toBe('waits-2026-11-02-2026-11-09.csv');
  const rows = csv.bytes.toString().trim().split('\r\n');
  expect(rows[0]).toBe('time,p50 (s),p90 (s)');
  expect(rows).toHaveLength(8);
  expect(rows[1]).toMatch(/^2026-11-02T00:00:00.000Z,\d+,\d+$/);
  const svg = await saved(page, 'Waiting time', 'SVG');
  const text = svg.bytes.toString();
  expect(text).toContain('xmlns="http://www.w3.org/2000/svg"');
  expect(text).not.toContain('var(--');
  const png = await saved(page, 'Waiting time', 'PNG');
  expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
  const drawn = await chart(page, 'waits').locator('svg').evaluate((svg) => Math.round(svg.getBoundingClientRect().width));
  expect(png.bytes.readUInt32BE(16)).toBe(2 * drawn);
});

it('shows a gap where nothing is known, and no zero', async () => {
  site.server.override = ({ path }) => {
    if (!path.startsWith('/api/v1/history')) return null;
    const at = ['2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z', '2026-11-06T00:00:00Z'];
    const zero = at.map(() => 0);
    const part = { step_seconds: 86_400, at, waits: zero, wait_p50_seconds: [null, null, null], wait_p90_seconds: [null, null, null], counted_to: at[2]!, kept_from: at[0]! };
    const gpus = Object.fromEntries(['total', 'used', 'free', 'reserved', 'draining', 'broken'].map((word) => [`${word}_gpu_seconds`, [100, 50, 80].map((value) => (word === 'total' ? 100 : value))]));
    const counts = Object.fromEntries(['submitted', 'succeeded', 'failed', 'stopped', 'preemptions', 'faults', 'nodes_lost', 'checks_failed', 'ended_gpu_seconds', 'lost_gpu_seconds'].map((word) => [word, zero]));
    return Response.json({ ...part, ...gpus, ...counts } as unknown as HistoryReport);
  };
  const page = await site.open('/history?since=2026-11-02T00:00:00Z&until=2026-11-09T00:00:00Z&step=1d');
  const line = await chart(page, 'utilisation').locator('path').first().getAttribute('d');
  expect(line!.match(/M/g)).toHaveLength(2);
  const csv = await saved(page, 'GPUs used', 'CSV');
  expect(csv.bytes.toString()).toContain('2026-11-04T00:00:00.000Z,\r\n');
});

it('says hours in the zone that the frame names, and days as those of UTC', async () => {
  const context = await site.browser.newContext({ timezoneId: 'Asia/Kolkata', locale: 'en-GB' });
  const local = await openIn(context, `${site.server.url}/history?since=2026-11-02T00:00:00Z&until=2026-11-03T00:00:00Z&step=1h`);
  const ticks = async (): Promise<string[]> => local.locator('[data-chart=jobs] svg text').allTextContents();
  await chart(local, 'jobs').waitFor();
  const letters = await local.locator('.top').getByRole('button', { name: /time/i }).innerText();
  expect(letters).toContain('5:30');
  expect((await ticks()).slice(3)).toEqual(['GMT+5:30', '07:30', '11:30', '15:30', '19:30', '23:30', '03:30']);
  await chart(local, 'jobs').locator('svg').scrollIntoViewIfNeeded();
  const box = (await chart(local, 'jobs').locator('svg').boundingBox())!;
  await local.mouse.move(box.x + box.width / 2, box.y + 40);
  await chart(local, 'jobs').getByText(/^2026-11-02 \d\d:30 GMT\+5:30: /).waitFor();
  await local.goto(`${site.server.url}/history?since=2026-10-02T00:00:00Z&until=2026-11-03T00:00:00Z&step=1d`);
  await chart(local, 'jobs').waitFor();
  expect((await ticks())[3]).toBe('UTC');
  expect((await ticks())[4]).toMatch(/^10-0\d$/);
});
