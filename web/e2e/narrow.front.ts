import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { faultsOf } from './axe';
import { visit } from './visit';

const site = visit();

async function paths(): Promise<string[]> {
  const first = async (state: string): Promise<string> => {
    const answer = await fetch(`${site.server.url}/api/v1/jobs?state=${state}&limit=1`);
    return `/jobs/${((await answer.json()) as { jobs: Job[] }).jobs[0]!.id}`;
  };
  const jobs = await Promise.all(['running', 'queued', 'failed', 'suspended'].map(first));
  return ['/', '/now', '/map', '/jobs', '/jobs?state=all&by=user', '/nodes', '/nodes/fire-0007', '/incidents', '/quotas', '/submit', '/nothing', ...jobs];
}

const wider = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const boxes: [string, Element][] = [['document', document.documentElement], ['page', document.querySelector('main')!]];
    return boxes.filter(([, box]) => box.scrollWidth > box.clientWidth).map(([name, box]) => `${name} ${box.scrollWidth} > ${box.clientWidth}`);
  });

// A phone; a laptop of 1366 × 768 at 200 %.
describe.each([[360, 740], [683, 384]])('at %i × %i', (width, height) => {
  it('scrolls no page sideways, and can be operated by everybody', async () => {
    const page = await site.open('/', { width, height });
    const faults: Record<string, string[]> = {};
    for (const path of await paths()) {
      await page.goto(site.server.url + path);
      if (path !== '/now') await page.getByText('live', { exact: true }).waitFor();
      await page.locator('h1').first().waitFor({ state: 'attached' });
      await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
      const found = [...(await wider(page)), ...(await faultsOf(page))];
      if (found.length > 0) faults[path] = found;
    }
    expect(faults).toEqual({});
    await page.context().close();
  });

  it('shows a table\'s last column inside its box, and a dialog whole', async () => {
    const page = await site.open('/jobs', { width, height });
    const last = page.locator('.grid-head [role=columnheader]').last();
    await last.scrollIntoViewIfNeeded();
    const at = (await last.boundingBox())!;
    expect(at.x).toBeGreaterThanOrEqual(0);
    expect(at.x).toBeLessThan(width);
    await page.goto(`${site.server.url}/nodes/fire-0007`);
    await page.getByRole('button', { name: 'Drain', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Drain', exact: true }).scrollIntoViewIfNeeded();
    expect(await dialog.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
    await page.context().close();
  });
});
