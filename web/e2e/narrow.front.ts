import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { faultsOf } from './axe';
import { goTo, isAll, patience } from './patience';
import { visit } from './visit';

const site = visit();
const settleMs = 3_000 * patience;

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

// Charts follow the width a frame or two later, and later still on a busy machine: a fault is what is still there after a while.
async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  const end = Date.now() + settleMs;
  let found = await look();
  const first = found;
  while (found.length > 0 && Date.now() < end) found = await look();
  if (first.length > 0) console.warn('at first, and then no more:', first.filter((each) => !found.includes(each)));
  return found;
}

// A phone; a laptop of 1366 × 768 at 200 %.
const narrow = [[360, 740, 'light'], [683, 384, 'dark']] as const;
const [[width]] = narrow;

// On the laptop; phone.front.ts looks at each page on a phone.
it.each(parts)('scrolls no page %s sideways, and can be operated by everybody', async (_, pages) => {
  const [, [width, height, colorScheme]] = narrow;
  const page = await site.open('/', { width, height });
  await page.emulateMedia({ colorScheme });
  const faults: Record<string, string[]> = {};
  for (const [at, path] of pages.entries()) {
    await goTo(page, await pathOf(path));
    if (path !== '/now') await page.locator('.live').getByText('live', { exact: true }).waitFor();
    const look = async (): Promise<string[]> => [...(await wider(page)), ...(isAll || at % 2 === 1 ? await faultsOf(page) : [])];
    const found = await lasting(look);
    if (found.length > 0) faults[`${path} at ${width}`] = found;
  }
  expect(faults).toEqual({});
});

// What people look for on a phone is on it, and not to the right of it.
it('shows the state of jobs and nodes, why a job waits, when it starts, and what one acts by without scrolling sideways', async () => {
  const page = await site.open('/jobs', { width, height: 740 });
  const account = (await page.getByTitle('account').boundingBox())!;
  const logo = (await page.locator('.brand').boundingBox())!;
  expect(Math.abs(account.y + account.height / 2 - (logo.y + logo.height / 2))).toBeLessThan(8); // in one line
  const isOnIt = async (sight: Locator): Promise<void> => {
    const box = (await sight.first().boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width, await sight.first().innerText()).toBeLessThanOrEqual(width);
  };
  await isOnIt(page.locator('.grid-row .badge'));
  await isOnIt(page.locator('.grid-row .brief').getByText(/needs \d+ whole nodes? in|quota of|waits for job|nodes are held/)); // why it waits
  await isOnIt(page.locator('.grid-row .brief').getByText(/^\w+ · \d+ nodes? · /)); // whose it is, and how large
  const rows = page.locator('.grid-row');
  const [above, below] = [(await rows.nth(0).boundingBox())!, (await rows.nth(1).boundingBox())!];
  const last = (await rows.nth(0).locator('.brief > *').last().boundingBox())!;
  expect(last.y + last.height).toBeLessThanOrEqual(above.y + above.height + 1);
  expect(below.y).toBeGreaterThanOrEqual(above.y + above.height - 1); // no row stands on another
  await goTo(page, '/nodes?liveness=not_up');
  await isOnIt(page.locator('.grid-row .badge').nth(1));
  await isOnIt(page.locator('.grid-row .brief').getByText(/^silent for/));
  await goTo(page, '/queue');
  for (const part of ['.title', '.text', '.when']) await isOnIt(page.locator(`.queue-table tbody ${part}`));
  await isOnIt(page.locator('.queue-table [data-label=waits]'));
  await goTo(page, '/incidents');
  await isOnIt(page.getByText('the node is open again'));
  await goTo(page, await pathOf('suspended'));
  await isOnIt(page.locator('.cards td.text'));
  await isOnIt(page.getByRole('region', { name: 'ranks' }).getByRole('button', { name: 'log' }));
  await goTo(page, '/knobs');
  await isOnIt(page.getByRole('button', { name: 'change min_quantum' }));
  await goTo(page, '/quotas');
  await isOnIt(page.getByRole('button', { name: 'change quota of ann in normal' }));
  const [a, b] = [await pathOf('running'), await pathOf('failed')].map((path) => path.replace('/jobs/', ''));
  await goTo(page, `/compare?a=${a}&b=${b}`);
  await isOnIt(page.locator(`.differences th a[href^="/jobs/${b}?"]`));
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
