import { expect, it } from 'vitest';
import type { Job, JobUsage } from '../src/api/types';
import { formatBytes } from '../src/lib/format';
import { faultsOf } from './axe';
import { withMoment } from './clock';
import { savedBy } from './saved';
import { visit } from './visit';

const site = visit();
const running = async (): Promise<Job[]> => ((await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1000`)).json()) as { jobs: Job[] }).jobs;
const nothing: JobUsage = { ranks: [], rank_count: 0, attempt: 0, attempts: [], at: [], stragglers: [], step_seconds: null, metrics: [] };

it('shows each rank over time, names those that fall behind, and says what is not known', async () => {
  const job = (await running()).find((each) => each.id % 3 === 0 && each.node_count > 2)!;
  const page = await site.open(`/jobs/${job.id}`);
  const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: /Ranks over time/ }) });
  await panel.getByText('1 straggler').waitFor();
  await panel.getByText(new RegExp(`rank ${job.id % job.node_count} on fire-`)).first().waitFor();
  expect(await panel.locator('[data-ranks] .multiple').count()).toBe(Math.min(64, job.node_count));
  expect(await panel.locator('[data-ranks] .multiple[data-behind]').count()).toBe(1);
  await panel.getByText(/per step · /).waitFor();
  await panel.getByText(/memory \d+ %/).first().waitFor();
  const steps = panel.getByRole('list', { name: 'time per step of each rank' });
  await steps.getByRole('img', { name: /^rank 0 on fire-\d+: [\d.]+ s per step$/ }).waitFor(); // of the demo's ranks the one that reports
  expect(await faultsOf(page)).toEqual([]);
});

it('shows what a program reports of its work over time, or how it can', async () => {
  const jobs = await running();
  const page = await site.open(`/jobs/${jobs.find((each) => each.id % 2 === 0)!.id}`);
  const loss = page.getByRole('list', { name: 'metrics, as rank 0 reports them' }).getByRole('listitem');
  await loss.getByText('loss').waitFor();
  await loss.getByText(/^\d\.\d+ to \d\.\d+$/).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(`${site.server.url}/jobs/${jobs.find((each) => each.id % 2 === 1)!.id}`);
  await page.getByText('hai.report_metrics(loss=0.3) does that').waitFor();
});

it('saves what each chart of a job, of the queue and of the overview shows, as CSV, SVG and PNG', async () => {
  const job = (await running()).find((each) => each.node_count === 2 && each.id % 2 === 0)!;
  const points = [1, 2, 3].map((step) => ({ at: new Date(Date.now() - 60_000 * (3 - step)).toISOString(), step: 500 * step }));
  site.server.override = ({ path }) => (path.endsWith('/progress') ? Response.json({ points }) : null);
  const page = await site.open(`/jobs/${job.id}`);
  const save = (title: string, form: string) =>
    savedBy(page, async () => {
      await page.getByRole('button', { name: `save ${title}`, exact: true }).click();
      await page.getByRole('menuitem', { name: form }).click();
    });
  const csv = async (title: string): Promise<[name: string, rows: string[]]> => {
    const { name, bytes } = await save(title, 'CSV');
    return [name, bytes.toString().trim().split('\r\n')];
  };
  const svg = async (title: string): Promise<string> => (await save(title, 'SVG')).bytes.toString();
  const [name, ranks] = await csv('the ranks over time');
  expect(name).toBe(`job-${job.id}-attempt-${job.attempt}-ranks.csv`);
  expect(ranks[0]).toMatch(/^time,rank \d on fire-\d+ GPUs busy \(%\),rank \d on fire-\d+ GPU memory taken \(%\),rank \d on fire-\d+ step,rank \d on fire-\d+ time per step \(s\),rank/);
  expect(ranks[1]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,\d+(,[\d.]*){7}$/);
  const drawn = await svg('the ranks over time');
  expect(drawn.match(/>rank \d fire-\d+</g)).toHaveLength(2);
  expect(drawn).not.toContain('var(--');
  expect((await csv('the metrics'))[1][1]).toMatch(/^[\dT:.Z-]+,loss,\d/);
  expect((await csv('the time per step'))[1][0]).toMatch(/^time,rank 0 on fire-\d+ time per step \(s\)$/);
  expect(await svg('progress')).toContain(`Progress of job ${job.id}`);
  await page.goto(site.server.url);
  const [, used] = await csv('GPUs used');
  expect(used[0]).toBe('time,used');
  expect(used.length).toBeGreaterThan(10);
  expect((await csv('Jobs waiting'))[0]).toBe('jobs-waiting-6h.csv');
  const png = await save('GPUs used', 'PNG');
  expect([png.name, png.bytes.subarray(1, 4).toString(), png.bytes.readUInt32BE(16)]).toEqual(['gpus-used-6h.png', 'PNG', 1_440]);
  await page.goto(`${site.server.url}/queue`);
  expect((await csv('nodes of training'))[1][0]).toBe('what,nodes,jobs,job,name,user,"end, even odds","end, nine in ten",from');
  expect(await svg('nodes of training')).toMatch(/^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"(?!.*var\(--)/s);
});

it('shows attempts as rows of a line or two', async () => {
  const [job] = await running();
  const page = await site.open(`/jobs/${job!.id}`);
  const cell = page.locator('td.now').first();
  await cell.waitFor();
  expect((await cell.boundingBox())!.height).toBeLessThan(60);
});

it('makes nothing up where nothing is known', async () => {
  site.server.override = ({ path }) => (path.includes('/usage') ? Response.json(nothing) : null);
  const [job] = await running();
  const page = await site.open(`/jobs/${job!.id}`);
  await page.getByText('Nothing is known of how it used its GPUs').waitFor();
  expect(await page.locator('.multiple').count()).toBe(0);
});

it('lays two jobs side by side, what is alike in grey', async () => {
  const [a, b] = (await running()).filter((each) => each.node_count > 1);
  const page = await site.open(`/compare?a=${a!.id}&b=${b!.id}.${b!.attempt}`);
  const facts = page.getByRole('table');
  await facts.waitFor();
  await facts.getByRole('row', { name: /time per step/ }).waitFor();
  expect(await facts.getByRole('row', { name: new RegExp(`^user ${a!.user} ${b!.user}`) }).count()).toBe(1);
  // Two attempts of one job share these.
  for (const word of ['suspended', 'requeued', 'lost work', 'CPU time', 'largest process']) await facts.getByRole('cell', { name: new RegExp(`^(job ${word}|${word} of the job)$`) }).waitFor();
  expect(await page.locator('.side-by-side .panel').count()).toBe(2);
  expect(await page.locator('.side-by-side [data-ranks] .multiple').count()).toBe(Math.min(64, a!.node_count) + Math.min(64, b!.node_count));
  expect(await faultsOf(page)).toEqual([]);
});

// With thousands of jobs the estimate takes a second: nobody waits for it to hear why, nor when, as far as the look
// ahead over the whole queue knows it.
it('says why a job waits before it knows when it starts', async () => {
  const [waiting] = ((await (await fetch(`${site.server.url}/api/v1/jobs?state=queued&reason=resources&limit=1`)).json()) as { jobs: Job[] }).jobs;
  let isKnown = false;
  let isForeseen = false;
  site.server.override = ({ path }) =>
    (/\/why$/.test(path) && !isKnown) || (path.startsWith('/api/v1/queue') && !isForeseen) ? Response.json({ title: 'busy', detail: 'not yet', status: 503 }, { status: 503, headers: { 'Content-Type': 'application/problem+json' } }) : null;
  const page = await site.open(`/jobs/${waiting!.id}`);
  const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Why it waits' }) });
  await panel.getByText(/It could start now without/).waitFor();
  await panel.getByText('When it starts: being worked out').waitFor();
  isForeseen = true;
  await page.reload();
  await panel.getByText(/^in \d+/).waitFor();
  await panel.getByText(withMoment(/foreseen for the whole queue at MOMENT; for this job alone it is being worked out/)).waitFor();
  await panel.getByText(/^\d+ in the queue of \w+$/).waitFor();
  isKnown = true;
  await panel.getByText(/run times learned from/).waitFor();
  expect(await panel.getByText('being worked out').count()).toBe(0);
});

it('says on the page of a job that has ended what its processes used', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=succeeded&limit=100`)).json()) as { jobs: Job[] };
  const job = jobs.find((each) => each.peak_memory_bytes !== null)!;
  const page = await site.open(`/jobs/${job.id}`);
  await page.getByText(new RegExp(`of CPU time, ${formatBytes(job.peak_memory_bytes!)} in the largest process`)).waitFor();
});
