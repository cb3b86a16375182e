import { describe, expect, it } from 'vitest';
import type { ClusterEvent, Job, Queue, QueueEntry } from '../src/api/types';
import { faultsOf } from './axe';
import { goTo, isAll } from './patience';
import { visit } from './visit';

const site = visit();
const queue = async (query = ''): Promise<Queue> => (await (await fetch(`${site.server.url}/api/v1/queue?${query}`)).json()) as Queue;

describe('the queue page', () => {
  it('shows the order, who is ahead by which rule, and when each starts', async () => {
    const answer = { ...(await queue('limit=30')), next_cursor: null };
    const [first, second] = answer.entries as [QueueEntry, QueueEntry];
    first.ahead = { by_priority: 1_204, by_class: 3, by_usage: 0, by_age: 2 };
    second.pending_reason = { code: 'quota', text: 'quota of ann in training/high: 64 nodes, 60 used' };
    second.nodes_held = 4;
    site.server.override = ({ path }) => (path.startsWith('/api/v1/queue') ? Response.json(answer) : null);
    const page = await site.open('/queue');
    await page.getByText(`${answer.total.toLocaleString('en-US')} jobs wait`).waitFor();
    const rows = page.locator('.queue-table tbody tr');
    expect(await rows.count()).toBe(30);
    expect(await rows.nth(0).innerText()).toContain('ahead: 1,204 with a higher priority, 3 that had less GPU time or wait longer, 2 that were there before');
    expect(await rows.nth(0).innerText()).toMatch(/in \d+[mhd].*nine in ten by \d/s);
    expect(await rows.nth(1).innerText()).toContain('holds 4 nodes that others are leaving');
    expect(await rows.nth(1).innerText()).toContain(second.pending_reason.text);
  });

  it('draws the nodes of each group over the next hours', async () => {
    const page = await site.open('/queue');
    const picture = page.getByRole('img', { name: /nodes of training in use over the next \d+ hours/ });
    await picture.waitFor();
    expect(await picture.locator('rect').count()).toBeGreaterThan(50);
    // What waits, too, where it is expected to start.
    await expect.poll(() => picture.getAttribute('aria-label')).toMatch(/; [\d,]+ jobs of those that wait are expected to start by then$/);
    const said = Number(/; ([\d,]+) jobs of those/.exec((await picture.getAttribute('aria-label'))!)![1]!.replace(',', ''));
    const drawn = await picture.locator('[data-starts]').evaluateAll((all) => all.map((each) => Number((each as SVGElement).dataset.starts)));
    expect(drawn.reduce((sum, count) => sum + count, 0)).toBe(said);
    expect(await picture.locator('[data-starts] title').first().textContent()).toMatch(/^\d+ jobs? with \d+ nodes? expected to start, even odds: \d+ /);
    await page.getByLabel('how far ahead').selectOption('72');
    await page.getByRole('img', { name: /nodes of training in use over the next 72 hours/ }).waitFor();
  });

  it('filters by user, priority and node group, keeps that in the address, and shows more on demand', async () => {
    const page = await site.open('/queue');
    await page.getByLabel('any priority').selectOption('low');
    await page.waitForURL(/priority=low/);
    await page.waitForFunction(() => [...document.querySelectorAll('.queue-table tbody td:nth-child(4)')].every((cell) => cell.textContent === 'low'));
    await page.getByLabel('any user').selectOption('ben');
    await page.waitForURL(/user=ben/);
    await page.waitForFunction(() => [...document.querySelectorAll('.queue-table tbody td:nth-child(3)')].every((cell) => cell.textContent === 'ben'));
    await page.goto(`${site.server.url}/queue`);
    const rows = page.locator('.queue-table tbody tr');
    await rows.first().waitFor();
    const before = await rows.count();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.waitForFunction((count) => document.querySelectorAll('.queue-table tbody tr').length > count, before);
  });

  it('counts all that wait, also what the server has not put in order', async () => {
    const answer = { ...(await queue('limit=2')), next_cursor: null, total: 2 };
    const groups = answer.groups.map((group, i) => ({ ...group, waiting: i === 0 ? 9_000 : 0 }));
    site.server.override = ({ path }) => (path.startsWith('/api/v1/queue') ? Response.json({ ...answer, groups }) : null);
    const page = await site.open('/queue');
    await page.getByText('9,000 jobs wait, 2 of them in order below').waitFor();
    await page.goto(`${site.server.url}/queue?user=ann`); // of whom the groups say nothing
    await page.getByText('2 jobs wait', { exact: true }).waitFor();
  });

  it('says that a start is being worked out until the look ahead is there, and then shows it by itself', async () => {
    let isThere = false;
    const answer = { ...(await queue('limit=2')), next_cursor: null };
    site.server.override = ({ path }) => {
      if (!path.startsWith('/api/v1/queue')) return null;
      const entries = isThere ? answer.entries : answer.entries.map((entry) => ({ ...entry, start_p50: null, start_p90: null }));
      return Response.json({ ...answer, entries, estimated_at: isThere ? answer.estimated_at : null });
    };
    const page = await site.open('/queue');
    await page.getByText('being worked out').first().waitFor();
    isThere = true;
    await page.getByText('nine in ten by').first().waitFor();
    expect(await page.getByText('being worked out').count()).toBe(0);
  });
});

// What was foreseen counted on nodes that are lost now.
it('shows no expected start from before a loss of nodes', async () => {
  const answer = { ...(await queue('user=ben&limit=2')), next_cursor: null, estimated_at: new Date(Date.now() - 60_000).toISOString() };
  const job = answer.entries[0]!.id;
  const lost = (name: string, secondsAgo: number): ClusterEvent => ({ seq: 90_000 - secondsAgo, time: new Date(Date.now() - 1_000 * secondsAgo).toISOString(), actor: 'server', kind: 'node_liveness_changed', subject: `node/${name}`, text: 'suspect', body: { liveness: 'suspect', reason: 'silent for 10s' } });
  site.server.user = { user: 'ben', role: 'user' };
  site.server.override = ({ path }) => {
    if (path.endsWith('/why')) return Response.json({ title: 'busy', detail: 'not yet', status: 503 }, { status: 503, headers: { 'Content-Type': 'application/problem+json' } });
    if (path.includes('kind=node_liveness_changed')) return Response.json({ events: [lost('fire-0004', 20), lost('fire-0005', 90)], next_cursor: null });
    return path.startsWith('/api/v1/queue') ? Response.json(answer) : null;
  };
  const page = await site.open('/queue');
  await page.getByRole('status').getByText(/left out: they counted on fire-0004, of which nothing is heard since/).waitFor();
  const none = page.getByText('not known: foreseen before fire-0004 fell silent');
  expect(await none.count()).toBe(2);
  await page.goto(`${site.server.url}/mine`);
  await none.first().waitFor();
  await page.goto(`${site.server.url}/jobs/${job}`);
  await page.getByRole('link', { name: /^\d+ in the queue of / }).waitFor(); // so what is foreseen for the whole queue is here
  await page.getByText('When it starts: being worked out').waitFor();
  expect(await page.getByText(/even odds|nine in ten/).count()).toBe(0);
  answer.estimated_at = new Date().toISOString();
  await page.goto(`${site.server.url}/queue`);
  await page.getByText('nine in ten by').first().waitFor();
  expect(await none.count()).toBe(0);
});

describe('my jobs', () => {
  const mine = async (state: string): Promise<Job[]> => ((await (await fetch(`${site.server.url}/api/v1/jobs?user=ben&state=${state}&limit=1000`)).json()) as { jobs: Job[] }).jobs;

  it('is where a researcher lands, once', async () => {
    site.server.user = { user: 'ben', role: 'user' };
    const page = await site.open('/');
    await page.getByRole('heading', { level: 1, name: 'My jobs' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('GPUs work').waitFor();
    site.server.user = { user: 'ann', role: 'admin' };
    const other = await site.open('/');
    await other.getByText('GPUs work').waitFor();
  });

  it('says of each job what it waits for, what it did last night and what to do', async () => {
    site.server.user = { user: 'ben', role: 'user' };
    const answer = { ...(await queue('user=ben&limit=1000')), next_cursor: null };
    const [first, second] = answer.entries as [QueueEntry, QueueEntry];
    Object.assign(second, { held: true, position: null, ahead: null, start_p50: null, start_p90: null, pending_reason: { code: 'held', text: 'held by ben' } });
    answer.entries = [first, second];
    const waiting = (await mine('queued')).filter((job) => job.id === first.id || job.id === second.id);
    const [runs] = await mine('running');
    site.server.override = ({ path }) => {
      if (path.startsWith('/api/v1/queue')) return Response.json(answer);
      return path.includes('&state=running') ? Response.json({ jobs: [...waiting, runs], next_cursor: null }) : null;
    };
    const page = await site.open('/mine');
    const card = (id: number) => page.locator('.mine-job').filter({ has: page.locator(`a[href="/jobs/${id}"]`) });
    await card(first.id).getByText(first.pending_reason.text).waitFor();
    expect(await card(first.id).innerText()).toMatch(/place.*starts.*even odds.*last night/s);
    await card(second.id).getByText('Release it when it may start.').waitFor();
    await card(second.id).getByText('not before that changes').waitFor();
    await card(runs!.id).getByText(/ran \d+[hms]/).waitFor();
  });
});

const refused = (): Response => Response.json({ title: 'unavailable', detail: 'the store is away', status: 503 }, { status: 503, headers: { 'Content-Type': 'application/problem+json' } });

it('says of what has ended that nobody knows when that question alone fails', async () => {
  site.server.user = { user: 'ben', role: 'user' };
  site.server.override = ({ path }) => (path.includes('state=succeeded') ? refused() : null);
  const page = await site.open('/mine');
  const panel = (title: RegExp) => page.locator('.panel').filter({ has: page.getByRole('heading', { name: title }) });
  await panel(/^Ended in/).getByRole('alert').getByText('the store is away').waitFor();
  expect(await panel(/^Ended in/).getByText('None of your jobs').count()).toBe(0);
  await panel(/^Waiting/).locator('.mine-job').first().waitFor();
  expect(await panel(/^(Waiting|Running)/).getByRole('alert').count()).toBe(0);
});

it('leads from the first of many jobs of mine to all of them', async () => {
  site.server.user = { user: 'ben', role: 'user' };
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?user=ben&state=queued&limit=1`)).json()) as { jobs: Job[] };
  const many = Array.from({ length: 40 }, (_, i): Job => ({ ...jobs[0]!, id: 9_000 + i }));
  site.server.override = ({ path }) => (path.includes('&state=running') ? Response.json({ jobs: many, next_cursor: null }) : null);
  const page = await site.open('/mine');
  const more = page.getByRole('link', { name: 'and 15 jobs more' });
  expect(await more.getAttribute('href')).toBe('/jobs?state=queued&state=suspended&user=ben');
  expect(await page.locator('.panel').filter({ has: more }).locator('.mine-job').count()).toBe(25);
});

// phone.front.ts looks at them on a phone.
const looks = [[1366, 'dark'], [2560, 'light']] as const;

it('can be read and operated by everybody', async () => {
  site.server.hasShortQueue = true;
  const page = await site.open('/queue');
  const faults: Record<string, string[]> = {};
  for (const [at, path] of ['/queue', '/mine', '/history?days=90&compare=1', '/knobs', '/account', '/compare'].entries()) {
    await goTo(page, path);
    for (const [turn, [width, colorScheme]] of looks.entries()) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const wide = await page.evaluate(() => [document.documentElement, document.querySelector('main')!].some((box) => box.scrollWidth > box.clientWidth));
      const found = [...(wide ? ['scrolls sideways'] : []), ...(isAll || at % 2 === turn ? await faultsOf(page) : [])];
      if (found.length > 0) faults[`${path} at ${width}`] = found;
    }
  }
  expect(faults).toEqual({});
});
