import type { Page } from 'playwright-core';
import { expect, inject, it } from 'vitest';
import { patience } from './patience';
import { base, dev, look, open, openPage, stopAll, submit, tell } from './story';

const story = tell();

it('lets nobody in without a token, and says so of a wrong one', async () => {
  const page = await openPage(story.browser, base, { ...look, token: '' });
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('does not know this token').waitFor();
  await page.getByLabel('Token').fill(inject('token'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('GPUs work').waitFor();
  await page.context().close();
});

const kept = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie + location.href);

it('takes a token from the address and keeps it nowhere', async () => {
  const page = await openPage(story.browser, `${base}/#token=${inject('token')}`, { ...look, token: '' });
  await page.getByText('GPUs work').waitFor();
  expect(await kept(page)).not.toContain('hai_');
  await page.reload();
  await page.getByText('GPUs work').waitFor();
  await page.context().close();
});

it('exchanges the token that an older page has left', async () => {
  const page = await openPage(story.browser, base, { ...look, token: '' });
  await page.getByLabel('Token').waitFor();
  await page.evaluate((token) => localStorage.setItem('hai.token', token), inject('token'));
  await page.reload();
  await page.getByText('GPUs work').waitFor();
  expect(await kept(page)).not.toContain('hai_');
  await page.context().close();
});

it('signs all tabs out with one, and lets nobody change anything by the cookie alone', async () => {
  const page = await openPage(story.browser, base, look);
  const other = await page.context().newPage();
  await other.goto(base);
  await other.getByText('GPUs work').waitFor();
  const change = await other.evaluate(async () => (await fetch('/api/v1/tokens', { method: 'POST', body: '{}' })).status);
  expect(change).toBe(403);
  await page.getByTitle('account').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  await other.getByLabel('Token').waitFor();
  await other.reload();
  await other.getByLabel('Token').waitFor();
  await page.context().close();
});

it('stays signed in, and says so, when the server does not end the session', async () => {
  const page = await openPage(story.browser, base, look);
  await page.route('**/api/v1/session', (route) => (route.request().method() === 'DELETE' ? route.abort() : route.continue()));
  await page.getByTitle('account').click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('You are still signed in: the server does not answer').waitFor();
  expect(await page.getByLabel('Token').count()).toBe(0);
  await page.context().close();
});

it('goes everywhere by keyboard', async () => {
  const { page } = story;
  await open(page, '/');
  await page.getByText('GPUs work').waitFor();
  for (const [key, title] of [['j', 'Jobs'], ['n', 'Nodes'], ['m', 'Map'], ['i', 'Incidents'], ['u', 'Users and quotas'], ['s', 'Submit a job']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key!);
    await page.getByRole('heading', { name: title!, level: 1 }).waitFor();
  }
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('filter the loaded jobs');
});

it('keeps what is filtered in the address, through a reload', async () => {
  const { page } = story;
  await open(page, '/jobs?state=failed&by=user');
  await page.reload();
  await page.getByRole('button', { name: 'failed', pressed: true }).waitFor();
  expect(await page.getByLabel('group by').inputValue()).toBe('user');
});

it('says that there is no such page, job or node', async () => {
  const { page } = story;
  await open(page, '/nothing');
  await page.getByText('There is no such page').waitFor();
  await open(page, '/jobs/999999');
  await page.getByRole('alert').waitFor();
  await open(page, '/nodes/nobody');
  await page.getByRole('alert').waitFor();
});

it('keeps the chosen colours', async () => {
  const { page } = story;
  await open(page, '/');
  await page.getByRole('button', { name: 'use dark colours' }).click();
  await page.reload();
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await page.getByRole('button', { name: 'use light colours' }).click();
});

it('finds its way back when the server was killed', async () => {
  const { page } = story;
  await open(page, '/');
  await page.getByText('live', { exact: true }).waitFor();
  dev('kill', 'server');
  await page.getByText('offline').waitFor();
  dev('start', 'server');
  await page.getByText('live', { exact: true }).waitFor({ timeout: 30_000 * patience });
});

it('lets go of its stream while nobody looks, and is up to date afterwards', async () => {
  const { page } = story;
  await open(page, '/jobs');
  await page.getByText('live', { exact: true }).waitFor();
  const become = (state: string): Promise<void> =>
    page.evaluate((to) => {
      Object.defineProperty(document, 'visibilityState', { value: to, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await become('hidden');
  await page.getByText('paused').waitFor();
  const job = await submit();
  await become('visible');
  await page.getByText('live', { exact: true }).waitFor();
  await page.getByRole('row', { name: job.name }).waitFor();
  await stopAll();
});

it('says that it shows what was known before, while the store is away', async () => {
  const { page } = story;
  await open(page, '/');
  await page.getByText('live', { exact: true }).waitFor();
  dev('kill', 'postgres');
  await page.getByText('The server can decide nothing now').waitFor({ timeout: 30_000 * patience });
  dev('start', 'postgres');
  await page.getByText('The server can decide nothing now').waitFor({ state: 'detached', timeout: 30_000 * patience });
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
