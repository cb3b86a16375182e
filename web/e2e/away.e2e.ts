import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { patience } from './patience';
import { base, dev, look, open, openPage, stopAll, submit, tell } from './story';
import { Wire } from './wire';

// The real server under an open page: stopped by a signal, behind a cut wire, behind a slow one. What the page says
// of each with a stand-in is in outage.front.ts.
const story = tell();
const wire = new Wire(new URL(base));
const noticedMs = 10_000 * patience;
const server = (): number => (JSON.parse(dev('status', '-o', 'json')) as { server: { pid: number } }).server.pid;

beforeAll(() => wire.open());
afterEach(() => {
  process.kill(server(), 'SIGCONT');
  wire.slow(0);
});
afterAll(async () => {
  wire.close();
  await stopAll();
});

const banner = (page: Page) => page.locator('.banner');
const live = (page: Page) => page.locator('.live').getByText('live', { exact: true }).waitFor();

async function timed(what: string, act: () => Promise<unknown>): Promise<number> {
  const began = Date.now();
  await act();
  const took = Date.now() - began;
  console.log(`${what}: ${(took / 1000).toFixed(1)} s`);
  return took;
}

const noticed = (page: Page) => banner(page).getByText(/No answer from the server/).waitFor({ timeout: noticedMs });
const over = (page: Page) => banner(page).waitFor({ state: 'detached' });

it('says within ten seconds that the server is stopped by a signal, until it goes on', async () => {
  const { page } = story;
  const job = await submit({ name: 'under-ice' });
  await open(page, `/jobs/${job.id}`);
  await page.locator('h1 ~ .badge').getByText('running').waitFor();
  await page.getByText(/^line \d+ of 0/).first().waitFor();
  const now = await page.context().newPage();
  await now.goto(`${base}/now`);
  await now.getByRole('heading', { level: 1 }).waitFor();
  await page.bringToFront();
  const pid = server();
  process.kill(pid, 'SIGSTOP');
  const [, width] = [await timed('frozen → banner', () => noticed(page)), await page.evaluate(() => document.documentElement.clientWidth)];
  expect((await banner(page).boundingBox())?.width).toBe(width);
  await page.getByText('offline').waitFor();
  await now.getByRole('heading', { level: 1 }).getByText('Unknown').waitFor({ timeout: noticedMs });
  // An action says that it was not done, instead of nothing.
  await page.getByRole('button', { name: 'Suspend' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await timed('frozen → the action gives up', () => page.locator('.toast').getByText('it is not known whether this was done').waitFor({ timeout: 20_000 * patience }));
  await banner(page).getByText(/No answer from the server/).waitFor();
  process.kill(pid, 'SIGCONT');
  await timed('goes on → banner away', () => over(page));
  await live(page);
  await now.getByRole('heading', { level: 1 }).getByText('Unknown').waitFor({ state: 'detached' });
  // What happens from now on is shown again.
  await submit({ name: 'after-ice' });
  await open(page, '/jobs');
  await page.getByText('after-ice').waitFor();
  await now.close();
});

it('says so when the wire is cut and no connection ends, and again that all is well when it is mended', async () => {
  const page = await openPage(story.browser, `${wire.url}/jobs`, look);
  await live(page);
  await page.locator('.grid-row').first().waitFor();
  wire.cut();
  await timed('cut → banner', () => noticed(page));
  wire.mend();
  await timed('mended → banner away', () => over(page));
  await live(page);
  await submit({ name: 'after-the-cut' });
  await page.getByText('after-the-cut').waitFor();
  await page.context().close();
});

it('works on a slow wire, without alarm', async () => {
  wire.slow(300);
  const page = await openPage(story.browser, 'about:blank', { ...look, token: '' });
  await timed('slow → signed in and live', async () => {
    await page.context().request.post(`${wire.url}/api/v1/session`, { data: { token: look.token } });
    await page.goto(`${wire.url}/jobs`);
    await live(page);
  });
  await page.evaluate(() => {
    const alarms: string[] = [];
    Object.assign(window, { alarms });
    new MutationObserver(() => alarms.push(...[...document.querySelectorAll('.banner')].map((each) => each.textContent ?? ''))).observe(document.body, { childList: true, subtree: true });
  });
  const job = await submit({ name: 'slowly' });
  await page.getByRole('link', { name: 'slowly' }).click();
  await page.locator('h1 ~ .badge').getByText('running').waitFor();
  await page.waitForTimeout(8_000); // longer than the page takes to notice a silence
  expect(await page.evaluate(() => (window as unknown as { alarms: string[] }).alarms)).toEqual([]);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.locator('h1 ~ .badge').getByText('stopped').waitFor();
  expect(page.url()).toContain(`/jobs/${job.id}`);
  await page.context().close();
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
