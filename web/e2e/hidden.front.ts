import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { answerLog } from '../src/demo/logs';
import { patience } from './patience';
import { become, openIn, visit } from './visit';

const site = visit();

const logsOpen = (): number => [...site.server.openStreams].filter((each) => each.includes('follow=true')).length;

async function running(): Promise<number> {
  const answer = await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=200`);
  const { jobs } = (await answer.json()) as { jobs: Job[] };
  return jobs.sort((a, b) => a.node_count - b.node_count)[0]!.id; // the smallest, whose page draws least
}

it('lets go of the log of a hidden tab, and goes on without a hole', async () => {
  const log = { lines: 300, isOver: () => false, lineBytes: 64, timeOf: (line: number) => Date.UTC(2026, 10, 20) + 1000 * line, textOf: (line: number) => `line ${line}` };
  site.server.override = ({ path }) => (path.includes('/logs?') ? answerLog({ ...log, lines: () => log.lines }, new URL(path, 'http://x').searchParams) : null);
  const page = await site.open(`/jobs/${await running()}`);
  await page.getByRole('log').getByText('line 299').waitFor();
  await expect.poll(logsOpen).toBe(1);
  await become(page, 'hidden');
  await page.getByText('paused while hidden').waitFor();
  await expect.poll(logsOpen).toBe(0);
  log.lines = 400;
  await become(page, 'visible');
  await expect.poll(logsOpen).toBe(1);
  await page.getByRole('log').getByText('line 399').waitFor();
  const lines = await page.locator('.log-line').evaluateAll((all) => all.map((line) => Number(/line (\d+)/.exec(line.textContent)![1])));
  expect(lines).toEqual(Array.from({ length: 400 }, (_, i) => i));
});

it('works in the sixth tab of job pages while five others are open', async () => {
  const first = await site.open(`/jobs/${await running()}`);
  const context = first.context();
  for (let tab = 0; tab < 5; tab += 1) await become(await openIn(context, `${site.server.url}/jobs/${await running()}`), 'hidden');
  await become(first, 'hidden');
  await expect.poll(logsOpen, { timeout: 20_000 * patience }).toBe(0);
  const last = await openIn(context, `${site.server.url}/jobs/${await running()}`);
  await last.getByRole('button', { name: 'Suspend', exact: true }).click();
  await last.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
  await last.getByText(/^Suspend: job/).waitFor({ timeout: 5_000 * patience });
});

it('says after ten seconds that nobody knows whether it was done', async () => {
  const page = await site.open(`/jobs/${await running()}`);
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  site.server.freeze();
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
  await page.getByText(/it is not known whether this was done/).waitFor({ timeout: 12_000 * patience });
  site.server.thaw();
});
