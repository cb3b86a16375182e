import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { goTo } from './patience';
import { visit } from './visit';

const site = visit();

// On a phone and on a laptop.
it.each([360, 1280])('says nothing in the console on any page, and scrolls none sideways, at %i pixels', async (width) => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&user=ann&limit=1`)).json()) as { jobs: Job[] };
  const pages = ['/mine', '/map', '/jobs', '/queue', '/nodes', '/nodes/fire-0007', '/incidents', '/history', '/quotas', '/submit', '/account', '/knobs', '/compare', '/runbooks', `/jobs/${jobs[0]!.id}`, '/now'];
  const page = await site.open('/favicon.svg', { width, height: 740, isOwn: true });
  let at = '/';
  const said: string[] = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(`${at}: ${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => said.push(`${at}: ${error.message}`));
  const look = async (): Promise<void> => {
    const isWider = (): Promise<boolean> =>
      page.evaluate(() => [document.documentElement, document.querySelector('main')!].some((box) => box.scrollWidth > box.clientWidth));
    await expect.poll(isWider, { message: at }).toBe(false);
  };
  await page.goto(site.server.url);
  await page.getByText('GPUs work').waitFor();
  await look();
  for (const path of pages) {
    at = path;
    await goTo(page, path);
    await look();
  }
  at = 'loaded anew';
  await page.reload();
  await page.locator('h1').first().waitFor({ state: 'attached' });
  expect(said).toEqual([]);
});
