import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { faultsOf } from './axe';
import { goTo } from './patience';
import { openIn, visit } from './visit';

const site = visit();

const jobsOf = async (query: string): Promise<Job[]> =>
  ((await (await fetch(`${site.server.url}/api/v1/jobs?${query}`)).json()) as { jobs: Job[] }).jobs;

it('names each page', async () => {
  const page = await site.open('/');
  const named = async (path: string, title: RegExp): Promise<void> => {
    await goTo(page, path);
    await page.waitForFunction((source) => new RegExp(source).test(document.title), title.source);
  };
  await named('/', /^Overview · hai$/);
  await named('/nodes', /^Nodes · hai$/);
  await named('/nodes/fire-0007', /^fire-0007, up, open · hai$/);
  const [job] = await jobsOf('state=running&limit=1');
  await named(`/jobs/${job!.id}`, new RegExp(`^${job!.name}, running · hai$`));
});

it('can be read by everybody while it loads', async () => {
  const [job] = await jobsOf('state=running&limit=1');
  const page = await site.open('/', { isOwn: true });
  await page.route(/\/api\/v1\/jobs\/\d+\//, () => undefined); // no answer comes
  await page.goto(`${site.server.url}/jobs/${job!.id}`);
  await page.getByRole('heading', { level: 1 }).waitFor(); // before that it is the application that loads
  await page.getByRole('progressbar', { name: 'loading' }).first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

it('offers people to stop their own jobs only', async () => {
  const [theirs] = await jobsOf('state=running&user=ben&limit=1');
  const [mine] = await jobsOf('state=running&user=ann&limit=1');
  site.server.user = { user: 'ann', role: 'user' };
  const page = await site.open(`/jobs/${mine!.id}`);
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await page.goto(`${site.server.url}/jobs/${theirs!.id}`);
  await page.getByRole('link', { name: 'Run again' }).waitFor();
  await page.getByTitle('account').getByText('ann').waitFor();
  expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
});

it('says that the server does not answer when somebody signs in', async () => {
  site.server.override = ({ path, method }) =>
    path.endsWith('/session') && method === 'POST' ? Response.json({ title: 'unauthenticated', detail: 'no session' }, { status: 401 }) : null;
  const page = await site.open('/');
  await page.getByLabel('Token').fill('hai_x');
  await site.server.kill();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('the server does not answer').waitFor();
  await site.server.start();
  site.server.override = () => null;
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('GPUs work').waitFor();
});

it('signs out all tabs with one', async () => {
  const page = await site.open('/');
  const other = await openIn(page.context(), `${site.server.url}/nodes`);
  await page.getByTitle('account').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await other.getByLabel('Token').waitFor();
});

// Where the letters of a text stand on the screen, from left to right.
const lettersFromLeft = (page: Page, selector: string): Promise<string> =>
  page.evaluate((at) => {
    const found: [number, string][] = [];
    const walk = document.createTreeWalker(document.querySelector(at)!, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      for (let i = 0; i < node.textContent!.length; i += 1) {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const box = range.getBoundingClientRect();
        if (box.width > 0) found.push([box.left, node.textContent![i]!]);
      }
    }
    return found.sort((a, b) => a[0] - b[0]).map(([, letter]) => letter).join('');
  }, selector);

it('lets a U+202E in a reason reverse nothing but itself', async () => {
  site.server.override = ({ path }) =>
    path === '/api/v1/nodes/fire-0007'
      ? Response.json({ ...node, reason: 'fan \u202Egnp.exe', reason_by: 'ops', scheduling: 'cordoned' })
      : null;
  const node = (await (await fetch(`${site.server.url}/api/v1/nodes/fire-0008`)).json()) as object;
  const page = await site.open('/nodes/fire-0007');
  await page.locator('.note').getByText('ops').waitFor();
  const seen = await lettersFromLeft(page, '.note');
  expect(seen).toMatch(/^fan exe\.png.* ops\.$/);
});

it('tells what of a node an operator has set', async () => {
  const node = (await (await fetch(`${site.server.url}/api/v1/nodes/fire-0008`)).json()) as object;
  site.server.override = ({ path }) =>
    path === '/api/v1/nodes/fire-0007' ? Response.json({ ...node, zone: '', leaf: 'leaf-9', labels: ['ib', 'fast-disk'], set: ['leaf', 'labels'] }) : null;
  const page = await site.open('/nodes/fire-0007');
  await page.locator('dt:has-text("set by an operator") + dd').getByText('leaf, labels').waitFor();
  await page.locator('dt:has-text("labels") + dd').getByText('ib, fast-disk').waitFor();
  await page.locator('.page-head').getByText('leaf-9, group', { exact: false }).waitFor();
  expect(await page.locator('.page-head').innerText()).not.toContain('zone');
});

it('gives the focus back after Esc, and skips to the page', async () => {
  const page = await site.open('/nodes/fire-0007');
  const drain = page.getByRole('button', { name: 'Drain', exact: true });
  await drain.press('Enter'); // focuses it first
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(() => drain.evaluate((button) => button === document.activeElement)).toBe(true);
  await page.reload();
  await drain.waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('page');
});

it('gives the focus back to what it was on when the help was opened', async () => {
  const page = await site.open('/nodes/fire-0007');
  const drain = page.getByRole('button', { name: 'Drain', exact: true });
  await drain.focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => drain.evaluate((button) => button === document.activeElement)).toBe(true);
});

it('leaves the focus to the search when / follows Esc at once', async () => {
  const page = await site.open('/jobs');
  await page.getByLabel('filter the loaded jobs').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  const focused = await page.evaluate(async () => {
    const press = (key: string): unknown => document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    press('Escape');
    // No timer runs before the next key.
    for (let turn = 0; turn < 1_000 && document.querySelector('[role=dialog]'); turn += 1) await Promise.resolve();
    press('/');
    await new Promise((resolve) => setTimeout(resolve, 50)); // those that were waiting have run
    return document.activeElement?.getAttribute('aria-label');
  });
  expect(focused).toBe('filter the loaded jobs');
});

it('has no target smaller than 24 pixels', async () => {
  const page = await site.open('/');
  const [job] = await jobsOf('state=running&limit=1');
  const small: Record<string, string[]> = {};
  for (const path of ['/', '/map', '/jobs', '/nodes', '/nodes/fire-0007', '/incidents', '/quotas', '/submit', `/jobs/${job!.id}`]) {
    await goTo(page, path);
    const found = await page.evaluate(() =>
      [...document.querySelectorAll('button, select, input:not([type=checkbox]), a.tag, a.button, nav a')]
        .map((each) => ({ box: each.getBoundingClientRect(), text: each.outerHTML.slice(0, 90) }))
        .filter(({ box }) => box.width > 0 && (box.height < 24 || box.width < 24))
        .map(({ box, text }) => `${box.width}×${box.height} ${text}`),
    );
    if (found.length > 0) small[path] = found.slice(0, 4);
  }
  expect(small).toEqual({});
});
