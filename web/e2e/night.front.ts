// What an admin sees first at 3 a.m.
import { expect, it } from 'vitest';
import type { ClusterEvent, Incident, Job, Node } from '../src/api/types';
import { withMoment } from './clock';
import { visit } from './visit';

const site = visit();
const ago = (minutes: number): string => new Date(Date.now() - 60_000 * minutes).toISOString();
const incident = (id: number, kind: string, part: Partial<Incident> = {}): Incident => ({
  id, kind, subject: 'cluster', summary: `summary of ${kind}`, opened_at: ago(id), closed_at: null, close_reason: null, nodes: [], notes: [], ...part,
});

it('says what has changed in the last hour beside the headline', async () => {
  const at = [ago(59), ago(0)];
  const flat = [0, 0];
  site.server.override = ({ path }) =>
    path.includes('/cluster/series')
      ? Response.json({ step_seconds: 3_540, at, gpus_total: [10_000, 10_000], gpus_used: [9_744, 9_488], gpus_free: flat, gpus_reserved: flat, gpus_draining: flat, gpus_broken: [0, 256], jobs_running: flat, jobs_queued: flat, jobs_suspended: flat })
      : null;
  const page = await site.open('/');
  await page.getByText(withMoment(/Since MOMENT: 256 fewer used, 256 more broken or silent GPUs/)).waitFor();
});

it('makes one line of what hits 552 jobs, and none of the others is pushed away', async () => {
  const failed = Array.from({ length: 552 }, (_, i): ClusterEvent => ({ seq: 9_000 - i, time: ago(1), actor: 'scheduler', kind: 'attempt_ended', subject: `job/${5_000 - i}`, text: 'attempt 1 ended: could not be launched on fire-0500', body: { outcome: 'failed' } }));
  const lost: ClusterEvent = { seq: 10, time: ago(2), actor: 'server', kind: 'node_liveness_changed', subject: 'node/fire-0007', text: 'down: no report for 40s', body: {} };
  site.server.override = ({ path }) => (path.startsWith('/api/v1/events?format=list') ? Response.json({ events: [...failed, lost], next_cursor: null }) : null);
  const page = await site.open('/');
  const feed = page.locator('.feed');
  expect(await feed.getByRole('link', { name: '552 jobs' }).getAttribute('href')).toBe('/jobs?state=failed');
  await feed.getByText(/in the last 2 minutes/).waitFor();
  await feed.getByText('which').click();
  await feed.getByRole('link', { name: 'job 5000', exact: true }).waitFor();
  await feed.getByText('and 492 more').waitFor();
  expect(await feed.getByText('could not be launched').count()).toBe(1);
  await feed.getByRole('link', { name: 'fire-0007' }).waitFor();
});

it('puts the severest incident first, with links and the next step, also of those that are over', async () => {
  const open = [incident(1, 'hang', { subject: 'job/17' }), incident(2, 'mass_loss', { subject: 'leaf/B/leaf-40', nodes: ['fire-0781', 'fire-0782'] }), incident(3, 'node_fault', { subject: 'node/fire-0003', nodes: ['fire-0003'] })];
  const closed = [incident(4, 'mass_fault', { subject: 'leaf/A/leaf-2', closed_at: ago(1), close_reason: 'over', nodes: ['fire-0021'], notes: [{ at: ago(3), text: 'gpu_xid on 20 nodes' }, { at: ago(2), text: 'fire-[0018-0019] back' }, { at: ago(2), text: 'job 17 moves off fire-0021.' }] })];
  const stay = (id: number, state: string, from: number, to: number) => ({ id, name: 'x', user: 'ben', attempt: 1, rank: 0, state, placed_at: ago(from), ended_at: ago(to), end_reason: 'node was lost' });
  const check: ClusterEvent = { seq: 5, time: ago(5), actor: 'agent', kind: 'node_check_changed', subject: 'node/fire-0021', text: 'gpu_xid gpu-3 is fail: Xid 79', body: {} };
  site.server.override = ({ path }) => {
    if (path.startsWith('/api/v1/nodes/fire-0021/jobs')) return Response.json({ jobs: [stay(71, 'lost', 90, 3), stay(70, 'succeeded', 900, 800)] });
    if (path.includes('node=fire-0021')) return Response.json({ events: [check, { ...check, seq: 4, time: ago(600), text: 'long before' }], next_cursor: null });
    return path.startsWith('/api/v1/incidents') ? Response.json({ incidents: path.includes('closed') ? closed : open, next_cursor: null }) : null;
  };
  const page = await site.open('/');
  const first = page.locator('.incidents .failure').first();
  await first.getByText('summary of mass_loss').waitFor();
  await page.goto(`${site.server.url}/incidents`);
  await page.getByText('summary of hang').waitFor();
  const titles = await page.locator('.panel > header h2').allInnerTexts();
  expect(titles.slice(0, 3)).toEqual(['mass loss · leaf/B/leaf-40', 'node fault · node/fire-0003', 'hang · job/17']);
  const loss = page.locator('.panel').filter({ hasText: 'summary of mass_loss' });
  await loss.getByText('hai fence NODE').waitFor();
  await loss.getByRole('link', { name: 'fire-0781' }).waitFor();
  await page.getByText('summary of mass_fault').click();
  await page.getByText('gpu_xid on 20 nodes').waitFor();
  await page.getByText('Look at what they share').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'summary of mass_fault' });
  for (const name of ['fire-0018', 'fire-0019', 'fire-0021']) await row.getByRole('link', { name }).first().waitFor(); // not only the last
  // Whom it hurt, what the nodes said, and the links within its notes.
  await row.getByText(/^\d+ jobs? (was|were) on them then: 71 of ben \(lost\)/).waitFor(); // who lost an attempt first
  expect(await row.getByRole('link', { name: '71', exact: true }).getAttribute('href')).toBe('/jobs/71');
  await row.locator('.feed').getByText('gpu_xid gpu-3 is fail: Xid 79').waitFor();
  expect(await row.getByText('long before').count()).toBe(0);
  const note = row.locator('.note').filter({ hasText: 'moves off' });
  expect(await note.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual(['/jobs/17', '/nodes/fire-0021']);
  expect(await row.getByRole('link', { name: 'The hours around it in the history' }).getAttribute('href')).toMatch(/^\/history\?since=.*&until=.*&step=1h$/);
});

it.each(['/', '/incidents'])('does not say on %s that nothing is wrong while nodes are down without an incident', async (path) => {
  site.server.override = (asked) => (asked.path === '/api/v1/incidents' ? Response.json({ incidents: [], next_cursor: null }) : null);
  const page = await site.open(path);
  await page.getByRole('link', { name: /fire-.* are silent/ }).waitFor();
  await page.getByText(/^\d+m( \d+s)? ago · needs a person$/).or(page.getByText(/^\d+s ago · needs a person$/)).first().waitFor();
  expect(await page.getByText('Nothing is wrong now').count()).toBe(0);
});

const failed = (count: number, seconds: number, part: Partial<ClusterEvent> = {}): ClusterEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    seq: 9_000 - i, time: new Date(Date.now() - (seconds * 1000 * i) / count).toISOString(), actor: 'scheduler', kind: 'job_finished', subject: `job/${5_000 - i}`,
    text: 'failed with exit code 1: rank 0 exited', body: { state: 'failed' }, ...part,
  }));

it('counts failures as the store does, and leads to the hours that it has counted', async () => {
  const page = await site.open('/');
  const figure = page.getByRole('link', { name: /failed or requeued by faults since .*\d\d:00$/ });
  const count = Number((await figure.innerText()).replace(/ .*/, '').replace(',', ''));
  await figure.click();
  const shown = await page.getByRole('img', { name: /^Failures: / }).getAttribute('aria-label');
  const [, jobs, faults] = /jobs failed (\d+), requeued by faults (\d+)/.exec(shown!)!;
  expect(Number(jobs) + Number(faults)).toBe(count);
  await expect.poll(async () => (await page.locator('[data-chart=failures]').boundingBox())!.y).toBeLessThan(500);
});

it('takes interruptions and lost work from the store, and says so where only the newest events tell', async () => {
  let page = await site.open('/');
  const panel = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Interruptions and lost work' }) });
  await panel.getByText(withMoment(/^Counted up to MOMENT\.$/)).waitFor();
  const hours = Number(/([\d.,]+) GPU-hours to be done again/.exec(await panel.innerText())![1]!.replace(',', ''));
  await panel.getByRole('link').click();
  const shown = await page.getByRole('img', { name: /^Lost work: / }).getAttribute('aria-label');
  expect(Math.round(Number(/lost ([\d.,]+) GPU-hours/.exec(shown!)![1]!.replace(',', '')))).toBe(Math.round(hours));
  site.server.override = ({ path }) => (path.startsWith('/api/v1/history') ? Response.json({ title: 'unimplemented', detail: 'no store', status: 501 }, { status: 501 }) : null);
  page = await site.open('/');
  await panel.getByText(/^Of the newest [\d,]+ events alone: the store has counted nothing\.$/).waitFor();
});

it('keeps in the address how far back the overview looks', async () => {
  const page = await site.open('/?window=24h');
  const choice = page.getByLabel('how far back');
  await expect.poll(() => choice.inputValue()).toBe('24h');
  const asked = (): number => site.server.count('GET', '/cluster/series?window=7d');
  const before = asked();
  await choice.selectOption('7d');
  await page.waitForURL((url) => url.search === '?window=7d');
  await expect.poll(asked).toBe(before + 1);
  await choice.selectOption('6h');
  await page.waitForURL((url) => url.pathname === '/' && url.search === '');
  await page.goto(`${site.server.url}/?window=1y`);
  await expect.poll(() => choice.inputValue()).toBe('6h'); // nobody offers that one
});

it('says how short the time is in which a storm failed, where the store has counted nothing', async () => {
  site.server.override = ({ path }) => {
    if (path.startsWith('/api/v1/history')) return Response.json({ title: 'unimplemented', detail: 'no store', status: 501 }, { status: 501 });
    return path.startsWith('/api/v1/events?format=list') ? Response.json({ events: failed(1_000, 240), next_cursor: 1 }) : null;
  };
  const page = await site.open('/');
  await page.getByRole('link', { name: /^1,000 failed or requeued by faults in the last (3m 5\ds|4m( \d+s)?)$/ }).click();
  await page.waitForURL(/#lately$/);
  await page.locator('#lately').getByText(/^2\d\d jobs$/).first().waitFor();
});

it.each(['/now', '/'])('calls a storm of launches that fail a trouble on %s', async (path) => {
  const body = { launch_failed: true, infrastructure: true, reason: 'rank 0 on fire-0500 could not start: no space left on device' };
  site.server.override = (asked) =>
    asked.path.includes('kind=job_requeued') ? Response.json({ events: failed(552, 55, { kind: 'job_requeued', text: `back in the queue: ${body.reason}`, body }), next_cursor: null }) : null;
  const page = await site.open(path);
  await page.getByRole('link', { name: '552 jobs could not start on fire-0500: no space left on device' }).click();
  await page.waitForURL(/\/#lately$/);
  await expect.poll(async () => (await page.locator('#lately').boundingBox())!.y).toBeLessThan(768);
});

it('makes one line of 552 jobs that failed alike, which can be opened', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=failed&limit=2`)).json()) as { jobs: Job[] };
  const alike = Array.from({ length: 552 }, (_, i): Job => ({
    ...jobs[0]!, id: 90_000 - i, name: `storm-${i}`, end_reason: 'rank 0 on fire-0500 could not start: no space left on device', ended_at: new Date(Date.now() - 60_000 - 100 * i).toISOString(),
  }));
  site.server.override = ({ path }) => (path.startsWith('/api/v1/jobs?') && path.includes('state=failed') ? Response.json({ jobs: [...alike, ...jobs], next_cursor: null }) : null);
  const page = await site.open('/jobs?state=failed');
  const head = page.locator('.grid-row').filter({ hasText: '552 jobs failed' });
  await head.getByText('could not start: no space left').waitFor();
  expect(await page.locator('.grid-row').count()).toBe(3);
  await head.click();
  await page.getByRole('link', { name: 'storm-0', exact: true }).waitFor();
  await head.click();
  await expect.poll(() => page.locator('.grid-row').count()).toBe(3);
});

it.each(['nodes/fire-0500', 'jobs/JOB'])('groups what is the same in the events of /%s, too', async (path) => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] };
  const address = path.replace('JOB', String(jobs[0]!.id));
  const subject = address.replace('nodes', 'node').replace('jobs', 'job');
  const again = failed(40, 50, { kind: 'attempt_ended', subject, text: 'attempt 3 ended as failed: no space left on device' }).map((each, i) => ({ ...each, subject: path.startsWith('nodes') ? `job/${70 + i}` : subject }));
  site.server.override = (asked) => (/\/events\?/.test(asked.path) && !asked.path.includes('after') ? Response.json({ events: again, next_cursor: null }) : null);
  const page = await site.open(`/${address}`);
  await page.locator('.feed').getByText(path.startsWith('nodes') ? '40 jobs' : '40 times').waitFor();
  expect(await page.locator('.feed > li').count()).toBe(1);
});

it('links the jobs that an incident hurts, here and on the page Now', async () => {
  const { nodes } = (await (await fetch(`${site.server.url}/api/v1/nodes?liveness=up`)).json()) as { nodes: Node[] };
  const busy = nodes.filter((each) => each.jobs.length > 0).slice(0, 3);
  const loss = incident(7, 'mass_loss', { nodes: busy.map((each) => each.name) });
  site.server.override = ({ path }) => (path.startsWith('/api/v1/incidents') ? Response.json({ incidents: path.includes('closed') ? [] : [loss], next_cursor: null }) : null);
  const job = String(Math.min(...busy.flatMap((each) => each.jobs)));
  for (const [path, box] of [['/now', '.now li'], ['/incidents', '.panel']] as const) {
    const page = await site.open(path);
    const card = page.locator(box).filter({ hasText: 'summary of mass_loss' });
    await card.getByText(/\d+ jobs? of \w+/).waitFor();
    expect(await card.getByRole('link', { name: job, exact: true }).getAttribute('href')).toBe(`/jobs/${job}`);
    if (path === '/now') expect(await card.getByRole('heading').getByRole('link').getAttribute('href')).toBe('/incidents?id=7');
  }
});

it('shows the incident of an address, also one that is long over, with all that is left to know', async () => {
  const old = incident(3, 'mass_fault', { closed_at: ago(1), close_reason: 'over', nodes: Array.from({ length: 55 }, (_, i) => `fire-${1000 + i}`) });
  const newer = Array.from({ length: 100 }, (_, i) => incident(200 - i, 'hang', { closed_at: ago(1), close_reason: 'over' }));
  site.server.override = ({ path }) => {
    if (!path.startsWith('/api/v1/incidents')) return null;
    if (!path.includes('closed')) return Response.json({ incidents: [], next_cursor: null });
    return Response.json(path.includes('cursor') ? { incidents: [old], next_cursor: null } : { incidents: newer, next_cursor: 'more' });
  };
  const page = await site.open('/incidents?id=3');
  const card = page.locator('.asked');
  await card.getByText('and 15 more').waitFor();
  await card.getByText('Over: over').waitFor();
  await expect.poll(async () => (await card.boundingBox())!.y).toBeLessThan(768);
  await card.getByRole('link', { name: 'incident open' }).click();
  await page.waitForURL(/\/runbooks#incident-open$/);
  await page.getByText('The server does not decide alone what could run a job twice').waitFor();
  await page.goto(`${site.server.url}/incidents?id=999`);
  await page.getByText('Incident 999 is neither open nor among those before').waitFor();
  await page.goto(`${site.server.url}/incidents`);
  await page.getByText('the newest 100 incidents').waitFor();
});

it('finds what a busy node said in an incident that is over, behind pages that hold only its jobs', async () => {
  const old = incident(3, 'node_fault', { opened_at: ago(5), closed_at: ago(4), close_reason: 'over', nodes: ['fire-1000', 'fire-1001'] });
  const said = { seq: 7, time: ago(4.5), actor: 'agent:fire-1000', kind: 'node_check_changed', subject: 'node/fire-1000', text: 'ib_link mlx5_0 is fail', body: {} };
  const stay = (id: number, placed_at: string) => ({ id, name: 'j', user: 'ann', attempt: 1, rank: 0, state: 'succeeded', placed_at, ended_at: ago(0.1), end_reason: null });
  const asked: string[] = [];
  site.server.override = ({ path }) => {
    if (path.startsWith('/api/v1/incidents')) return Response.json({ incidents: path.includes('closed') ? [old] : [], next_cursor: null });
    const [, node] = /node=(fire-\d+)/.exec(path) ?? [];
    if (node === 'fire-1001') return Response.json({ events: [], next_cursor: 1 }); // it never ends
    if (node) {
      asked.push(path);
      const before = Number(/before=(\d+)/.exec(path)?.[1] ?? 900);
      return Response.json(before > 300 ? { events: [], next_cursor: before - 300 } : { events: [said], next_cursor: null });
    }
    if (!/\/nodes\/fire-100\d\/jobs/.test(path)) return null;
    const limit = Number(/limit=(\d+)/.exec(path)![1]);
    const many = Array.from({ length: 250 }, (_, i) => stay(9_000 - i, ago(0.2)));
    return Response.json({ jobs: [...many, stay(77, ago(4.8))].slice(0, limit) });
  };
  const page = await site.open('/incidents?id=3');
  const card = page.locator('.asked');
  await card.getByText('ib_link mlx5_0 is fail').waitFor();
  await card.getByRole('link', { name: '77', exact: true }).waitFor();
  expect(asked).toHaveLength(3);
  await card.getByText('So much has happened on fire-1001 since then').waitFor();
  expect(await card.getByText('Nothing that these nodes said then is kept').count()).toBe(0);
});
