import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { faultsOf } from './axe';
import { isFirefox } from './browser';
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
  await page.getByText('when it was last heard', { exact: true }).waitFor(); // its GPUs
});

it('finds on Back the place and what was selected', async () => {
  const page = await site.open('/jobs?state=all');
  await page.locator('.grid-row').first().waitFor();
  await body(page).evaluate((box) => (box.scrollTop = 4_000));
  await page.waitForFunction(() => Object.values((history.state ?? {}) as Record<string, unknown>).includes(4_000));
  const name = await page.locator('.grid-row').nth(14).getByRole('link').innerText();
  const row = page.locator('.grid-row').filter({ has: page.getByRole('link', { name, exact: true }) });
  await row.getByRole('checkbox').check();
  await page.getByText('1 selected').waitFor();
  // Firefox's driver brings what it clicks into the middle first.
  await body(page).evaluate((box) => box.addEventListener('click', () => ((window as { at?: number }).at = box.scrollTop), true));
  await row.getByRole('link').click();
  await page.getByRole('heading', { name }).waitFor();
  const at = await page.evaluate(() => (window as { at?: number }).at!);
  expect(at).toBeGreaterThan(isFirefox ? 3_500 : 3_900);
  await page.goBack();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('link', { name, exact: true }).waitFor();
  await expect.poll(() => body(page).evaluate((box) => box.scrollTop)).toBeCloseTo(at, 0);
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

it('counts on how long a node is silent, in the list and on the map', async () => {
  const { nodes } = (await (await fetch(`${site.server.url}/api/v1/nodes?liveness=down`)).json()) as { nodes: { name: string }[] };
  const { name } = nodes[0]!;
  const seconds = (text: string): number => {
    const [, minutes = '0', rest = '0'] = /silent for (?:(\d+)m ?)?(?:(\d+)s)?/.exec(text)!;
    return 60 * Number(minutes) + Number(rest);
  };
  let page = await site.open(`/nodes?liveness=down&q=${name}`);
  const reason = page.locator('.grid-row [role=gridcell]').last();
  await reason.getByText(/^silent for/).waitFor();
  const before = seconds(await reason.innerText());
  expect(before).toBeGreaterThanOrEqual(40);
  await expect.poll(async () => seconds(await reason.innerText())).toBeGreaterThan(before + 1);
  // It counts since the same moment on the map's card.
  page = await site.open('/map');
  const canvas = page.locator('canvas').last();
  await canvas.waitFor();
  await canvas.focus();
  const card = page.locator('.map-side');
  const index = ((await (await fetch(`${site.server.url}/api/v1/nodes`)).json()) as { nodes: { name: string }[] }).nodes.findIndex((node) => node.name === name);
  for (let at = 0; at < Math.floor(index / 5) + 1; at += 1) await page.keyboard.press('ArrowDown');
  for (let at = 0; at < 5 && !(await card.innerText()).includes(name); at += 1) await page.keyboard.press('ArrowLeft');
  await card.getByText(/^silent for \d/).waitFor();
  expect(await card.getByText('more than').count()).toBe(0);
});

it('opens an array to its tasks, in the list', async () => {
  const [plain] = ((await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] }).jobs;
  const array: Job = { ...plain!, id: 5_000, name: 'sweep', array: { range: '0-2', tasks: 3, made: 3, unfinished: 3, succeeded: 0, failed: 0, stopped: 0, to_come: '' } };
  const tasks = [2, 1, 0].map((index): Job => ({ ...plain!, id: 5_001 + index, name: `sweep-${index}`, array_task: { array: 5_000, index } }));
  site.server.override = ({ path }) =>
    path.startsWith('/api/v1/jobs?') ? Response.json({ jobs: path.includes('array=5000') ? tasks : [array, plain], next_cursor: null }) : null;
  const page = await site.open('/jobs');
  await page.getByText('3 tasks').waitFor();
  expect(await page.locator('.grid-row').count()).toBe(2);
  const toggle = page.getByRole('button', { name: 'tasks of array 5000' });
  await toggle.click();
  await page.getByRole('link', { name: 'sweep-0', exact: true }).waitFor();
  expect((await page.locator('.grid-row a').allInnerTexts()).slice(0, 4)).toEqual(['sweep', 'sweep-0', 'sweep-1', 'sweep-2']);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel('select job 5002').check();
  await page.getByText('1 selected').waitFor();
  await toggle.click();
  await expect.poll(() => page.locator('.grid-row').count()).toBe(2);
});

it('finds on Back what was opened and what was folded', async () => {
  const [plain] = ((await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] }).jobs;
  const array: Job = { ...plain!, id: 5_000, name: 'sweep', array: { range: '0-1', tasks: 2, made: 2, unfinished: 2, succeeded: 0, failed: 0, stopped: 0, to_come: '' } };
  const tasks = [1, 0].map((index): Job => ({ ...plain!, id: 5_001 + index, name: `sweep-${index}`, array_task: { array: 5_000, index } }));
  const other: Job = { ...plain!, id: 4_000, name: 'other', user: 'zoe' };
  site.server.override = ({ path }) =>
    path.startsWith('/api/v1/jobs?') ? Response.json({ jobs: path.includes('array=5000') ? tasks : [array, other], next_cursor: null }) : null;
  const page = await site.open('/jobs?by=user');
  await page.getByRole('button', { name: 'tasks of array 5000' }).click();
  await page.locator('.grid-row.group').filter({ hasText: 'zoe' }).click();
  const names = (): Promise<string[]> => page.locator('.grid-row a').allInnerTexts();
  await expect.poll(names).toEqual(['sweep', 'sweep-0', 'sweep-1']);
  await page.getByRole('link', { name: 'sweep-0', exact: true }).click();
  await page.waitForURL('**/jobs/5001');
  await page.goBack();
  await expect.poll(names).toEqual(['sweep', 'sweep-0', 'sweep-1']);
});

it('asks for one page of jobs when it is opened, and for the next when somebody comes there', async () => {
  const page = await site.open('/favicon.svg');
  const lists = (): number => site.server.count('GET', '/api/v1/jobs?');
  const before = lists();
  await page.goto(`${site.server.url}/jobs?state=all`);
  await page.locator('.grid-row').first().waitFor();
  await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('1000');
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  expect(lists() - before).toBe(1);
  await body(page).evaluate((box) => (box.scrollTop = box.scrollHeight));
  await expect.poll(async () => Number(await page.getByRole('grid').getAttribute('aria-rowcount'))).toBeGreaterThan(1_000);
  expect(lists() - before).toBe(2);
});
