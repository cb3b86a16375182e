import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { patience } from './patience';
import { become, openIn, visit } from './visit';

const site = visit();
const open = (part: string): number => [...site.server.openStreams].filter((each) => each.includes(part)).length;
const live = (page: Page) => page.getByText('live', { exact: true }).first().waitFor();

// The smallest, whose pages draw least.
async function running(count: number): Promise<number[]> {
  const answer = await fetch(`${site.server.url}/api/v1/jobs?state=running&user=ann&limit=200`);
  const { jobs } = (await answer.json()) as { jobs: Job[] };
  return jobs.sort((a, b) => a.node_count - b.node_count).slice(0, count).map((job) => job.id);
}

it('leaves connections free with seven pages of jobs and their logs in view', async () => {
  const ids = await running(7);
  const first = await site.open(`/jobs/${ids[0]}`);
  const pages = [first];
  for (const id of ids.slice(1)) pages.push(await openIn(first.context(), `${site.server.url}/jobs/${id}`));
  const last = pages[6]!;
  await last.getByRole('log').getByText('loss').first().waitFor();
  for (const page of pages) await live(page);
  expect(open('/events?after')).toBe(1);
  await expect.poll(() => open('follow=true')).toBe(3);
  // A page whose place was taken goes on when somebody turns to it.
  await first.getByText('not followed: other pages follow theirs').click();
  await first.getByText('not followed').waitFor({ state: 'detached' });
  await expect.poll(() => open('follow=true')).toBe(3);
  await last.getByRole('button', { name: 'Suspend', exact: true }).click();
  const suspend = last.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true });
  await suspend.waitFor();
  const begin = performance.now();
  await suspend.click();
  await last.getByText(/^Suspend: job/).waitFor({ timeout: 2_000 * patience });
  console.log(`with seven pages an action was answered after ${Math.round(performance.now() - begin)} ms`);
  // The suspended job writes no more, and a page without a place takes that one by itself.
  await expect.poll(() => [open('follow=true'), open(`/jobs/${ids[6]}/logs`)]).toEqual([3, 0]);
});

it('tells events to all pages, and goes on in another one when the reader of the stream goes', async () => {
  const first = await site.open('/');
  await live(first);
  const second = await openIn(first.context(), site.server.url);
  const third = await openIn(first.context(), site.server.url);
  for (const page of [second, third]) await live(page);
  await expect.poll(() => open('/events?after')).toBe(1);
  for (const reader of [first, second]) {
    await reader.close();
    await expect.poll(() => open('/events?after')).toBe(1);
    await live(third);
    const reason = reader === first ? 'told by the second' : 'told by the third';
    await site.server.tell(reason);
    await third.locator('.feed').getByText(reason).waitFor();
  }
});

it('costs the server nothing while no page is seen, and reads on from one that comes back', async () => {
  const first = await site.open('/favicon.svg', { isOwn: true });
  // An hour is over within the minute that nobody looks.
  const hourMs = 3_600_000;
  await first.clock.install({ time: Math.ceil(Date.now() / hourMs) * hourMs - 20_000 });
  await first.goto(site.server.url);
  const second = await openIn(first.context(), `${site.server.url}/jobs`);
  for (const page of [first, second]) {
    await live(page);
    await become(page, 'hidden');
  }
  await first.clock.runFor(6_000);
  for (const page of [first, second]) await page.getByText('paused', { exact: true }).waitFor();
  const asked = site.server.asked.length;
  await first.clock.runFor(60_000); // of both pages
  // A question of each page itself, which comes after all that its timers have asked.
  for (const page of [first, second]) await page.evaluate(() => fetch('/api/v1/cluster').then((answer) => answer.text()));
  expect(site.server.asked.slice(asked).map((each) => each.path)).toEqual(['/api/v1/cluster', '/api/v1/cluster']);
  await expect.poll(() => site.server.openStreams.size).toBe(0);
  await become(second, 'visible');
  await live(second);
  expect(open('/events?after')).toBe(1);
});

it('takes the stream over from a page that is frozen', async () => {
  const frozen = await site.open('/favicon.svg', { isOwn: true });
  const lock = `hai.events.1.${site.server.user.user}`;
  await frozen.evaluate((name) => void navigator.locks.request(name, () => new Promise(() => undefined)), lock);
  const page = await frozen.context().newPage();
  await page.clock.install();
  await page.goto(site.server.url);
  await page.getByText('joining', { exact: true }).waitFor();
  await page.getByText('GPUs work').waitFor();
  await page.clock.fastForward(14_000);
  expect(open('/events?after')).toBe(0);
  await page.clock.fastForward(32_000);
  await live(page);
  expect(open('/events?after')).toBe(1);
});
