import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { become, openIn, visit } from './visit';

const site = visit();

const logsOpen = (): number => [...site.server.openStreams].filter((each) => each.includes('/logs?')).length;

async function running(): Promise<number> {
  const answer = await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`);
  return ((await answer.json()) as { jobs: Job[] }).jobs[0]!.id;
}

// The lines from one to another, and then silence: the request stays open.
function logOf(from: number, to: number): Response {
  const stamp = (line: number): string => new Date(Date.UTC(2026, 10, 20) + 1000 * line).toISOString();
  const text = Array.from({ length: to - from + 1 }, (_, i) => `${stamp(from + i)} line ${from + i}\n`).join('');
  return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }));
}

it('lets go of the log of a hidden tab, and goes on without a hole', async () => {
  let readings = 0;
  site.server.override = ({ path }) => {
    if (!path.includes('/logs?')) return null;
    readings += 1;
    return readings === 1 ? logOf(1, 300) : logOf(200, 400);
  };
  const page = await site.open(`/jobs/${await running()}`);
  await page.getByRole('log').getByText('line 300').waitFor();
  await expect.poll(logsOpen).toBe(1);
  await become(page, 'hidden');
  await page.getByText('paused while hidden').waitFor();
  await expect.poll(logsOpen).toBe(0);
  await become(page, 'visible');
  await expect.poll(logsOpen).toBe(1);
  await page.getByRole('log').getByText('line 400').waitFor();
  for (const word of ['line 2', 'line 3']) {
    await page.getByLabel('search the log').fill(word);
    await page.getByText('1 of 111', { exact: true }).waitFor(); // 1 + 10 + 100 of them, each once
  }
  site.server.override = () => null;
  await page.context().close();
});

it('works in the sixth tab of job pages while five others are open', async () => {
  const first = await site.open(`/jobs/${await running()}`);
  const context = first.context();
  for (let tab = 0; tab < 5; tab += 1) await become(await openIn(context, `${site.server.url}/jobs/${await running()}`), 'hidden');
  await become(first, 'hidden');
  await expect.poll(logsOpen, { timeout: 20_000 }).toBe(0);
  const last = await openIn(context, `${site.server.url}/jobs/${await running()}`);
  await last.getByRole('button', { name: 'Suspend', exact: true }).click();
  await last.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
  await last.getByText(/^Suspend: job/).waitFor({ timeout: 5_000 });
  await context.close();
});

it('says after ten seconds that nobody knows whether it was done', async () => {
  const page = await site.open(`/jobs/${await running()}`);
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  site.server.freeze();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
  await page.getByText(/it is not known whether this was done/).waitFor({ timeout: 12_000 });
  site.server.thaw();
  await page.context().close();
});
