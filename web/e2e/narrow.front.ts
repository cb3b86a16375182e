import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { faultsOf } from './axe';
import { goTo, isAll } from './patience';
import { visit } from './visit';

const site = visit();

// In two parts, so that no test takes long. A word is the page of a job in that state.
const parts: [name: string, pages: string[]][] = [
  ['of the cluster', ['/', '/now', '/map', '/nodes', '/nodes/fire-0007', '/incidents', '/runbooks', '/quotas', '/nothing']],
  ['of jobs', ['/jobs', '/jobs?state=all&by=user', '/submit', 'running', 'queued', 'failed', 'suspended']],
];

async function pathOf(page: string): Promise<string> {
  if (page.startsWith('/')) return page;
  const answer = await fetch(`${site.server.url}/api/v1/jobs?state=${page}&limit=1`);
  return `/jobs/${((await answer.json()) as { jobs: Job[] }).jobs[0]!.id}`;
}

const wider = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const boxes: [string, Element][] = [['document', document.documentElement], ['page', document.querySelector('main')!]];
    return boxes.filter(([, box]) => box.scrollWidth > box.clientWidth).map(([name, box]) => `${name} ${box.scrollWidth} > ${box.clientWidth}`);
  });

// A phone; a laptop of 1366 × 768 at 200 %.
const narrow = [[360, 740, 'light'], [683, 384, 'dark']] as const;

it.each(parts)('scrolls no page %s sideways, and can be operated by everybody', async (_, pages) => {
  const [[width, height]] = narrow;
  const page = await site.open('/', { width, height });
  const faults: Record<string, string[]> = {};
  for (const [at, path] of pages.entries()) {
    await goTo(page, await pathOf(path));
    if (path !== '/now') await page.locator('.live').getByText('live', { exact: true }).waitFor();
    for (const [turn, [width, height, colorScheme]] of narrow.entries()) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      const found = [...(await wider(page)), ...(isAll || at % 2 === turn ? await faultsOf(page) : [])];
      if (found.length > 0) faults[`${path} at ${width}`] = found;
    }
  }
  expect(faults).toEqual({});
});

describe.each(narrow)('at %i × %i', (width, height) => {
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
  });
});
