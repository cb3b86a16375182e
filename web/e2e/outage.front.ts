import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job, Node } from '../src/api/types';
import { withMoment } from './clock';
import { patience } from './patience';
import { become, visit } from './visit';

const site = visit();

const live = (page: Page) => page.getByText('live', { exact: true }).waitFor();

const banner = (page: Page) => page.locator('.banner');

it('notices within ten seconds that the server is frozen, and lets no timer go on', async () => {
  const page = await site.open('/jobs?state=running');
  await live(page);
  await page.locator('.grid-row').nth(6).waitFor();
  const width = await page.evaluate(() => document.documentElement.clientWidth);
  site.server.freeze();
  await banner(page).getByText(/No answer from the server/).waitFor({ timeout: 10_000 * patience });
  expect((await banner(page).boundingBox())?.width).toBe(width);
  await page.getByText('offline').waitFor();
  const ages = (): Promise<string[]> => page.locator('.grid-row [role=gridcell]:nth-child(9)').allInnerTexts();
  const before = await ages();
  expect(before.length).toBeGreaterThan(5);
  const old = async (): Promise<number> => Number(/(\d+)s old/.exec(await banner(page).innerText())?.[1]);
  const oldBefore = await old();
  await expect.poll(old).toBeGreaterThan(oldBefore + 1);
  expect(await ages()).toEqual(before);
  site.server.thaw();
  await banner(page).waitFor({ state: 'detached' });
  await live(page);
});

it('says of a running job that nothing is heard of its nodes', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&user=${site.server.user.user}&limit=50`)).json()) as { jobs: Job[] };
  const job = jobs.find((each) => each.node_count === 2)!;
  const { nodes } = (await (await fetch(`${site.server.url}/api/v1/nodes?limit=2`)).json()) as { nodes: Node[] };
  const silent = nodes.map((node) => ({ ...node, liveness: 'suspect', jobs: jobs.map((each) => each.id) }));
  site.server.override = ({ path }) => (path.startsWith('/api/v1/nodes?') ? Response.json({ nodes: silent, next_cursor: null }) : null);
  for (const path of [`/jobs/${job.id}`, '/mine']) {
    const page = await site.open(path);
    const note = page.getByRole('status').filter({ hasText: 'whether it still runs there is not known' }).first();
    await note.waitFor();
    expect(await note.innerText()).toContain('Nothing is heard of fire-[');
    expect(await note.getByRole('link').getAttribute('href')).toBe('/now');
  }
  const page = await site.open(`/jobs?state=running&q=${job.id}`);
  const row = page.locator('.grid-row').filter({ has: page.locator(`a[href="/jobs/${job.id}"]`) });
  await row.getByText('not heard', { exact: true }).waitFor();
  await row.getByText(/^Nothing is heard of fire-.*: whether it still runs there is not known$/).waitFor();
  expect(await row.getByText('running', { exact: true }).count()).toBe(0);
  await page.goto(`${site.server.url}/queue`);
  const note = page.getByRole('status').filter({ hasText: 'is not known' });
  await note.getByText(/Nothing is heard of fire-\S+: whether these \d+ jobs still run there/).waitFor();
  expect(await note.getByRole('link').first().getAttribute('href')).toMatch(/^\/jobs\/\d+$/);
  const block = page.locator('.stairs title').filter({ hasText: `job ${job.id} ` });
  await expect.poll(() => block.first().textContent()).toContain('whether it runs there is not known');
});

it('offers to try again when a page\'s code does not come from a server that is frozen', async () => {
  const page = await site.open('/', { isOwn: true }); // another test may have left that code in a shared one's cache
  await live(page);
  site.server.freeze();
  await page.getByRole('navigation').getByRole('link', { name: 'Submit' }).click();
  await page.getByText('This part of the dashboard could not be loaded').waitFor({ timeout: 15_000 * patience });
  site.server.thaw();
  await page.getByRole('heading', { name: 'Submit' }).first().waitFor();
});

it('finds a node by its name, and jobs by all else', async () => {
  const page = await site.open('/');
  const find = page.getByRole('searchbox').or(page.getByLabel('find a job or a node')).first();
  await find.fill('fire-0007');
  await find.press('Enter');
  await page.waitForURL('**/nodes/fire-0007');
  await find.fill('no-such-thing');
  await find.press('Enter');
  await page.waitForURL('**/jobs?state=all&q=no-such-thing');
});

it('says so at once when the server is dead, until it is back', async () => {
  const page = await site.open('/incidents');
  await live(page);
  await site.server.kill();
  await banner(page).getByText(/No answer from the server/).waitFor({ timeout: 5_000 * patience });
  await site.server.start();
  await banner(page).waitFor({ state: 'detached' });
  await live(page);
});

const noIncident = (): Response => Response.json({ incidents: [], next_cursor: null });
// Nor a node that is down.
const noNode = (path: string): Response | null => (path.startsWith('/api/v1/nodes?') ? Response.json({ nodes: [], next_cursor: null }) : null);

it('does not call fine what nobody knows', async () => {
  site.server.override = ({ path }) => (path === '/api/v1/incidents' ? noIncident() : noNode(path));
  const page = await site.open('/incidents');
  await page.getByText('Nothing is wrong now').waitFor();
  await site.server.kill();
  await page.getByText('Nobody knows now').waitFor();
  expect(await page.getByText('Nothing is wrong now').count()).toBe(0);
  await site.server.start();
  await page.getByText('Nothing is wrong now').waitFor();
});

it('keeps the banner of a dead database through refusals', async () => {
  const page = await site.open('/');
  await live(page);
  site.server.staleSince = new Date(Date.now() - 60_000).toISOString();
  await site.server.tell('ask now');
  await banner(page).getByText(/can decide nothing now/).waitFor();
  let refused = 0;
  site.server.override = ({ path }) => {
    if (!path.includes('/series') && !path.includes('/incidents')) return null;
    refused += 1;
    return Response.json({ title: 'unavailable', detail: 'no leader', status: 503 }, { status: 503 });
  };
  await page.evaluate(() => {
    const log: boolean[] = [];
    Object.assign(window, { log });
    new MutationObserver(() => log.push(document.querySelector('.banner') !== null)).observe(document.body, { childList: true, subtree: true });
  });
  await page.getByLabel('how far back').selectOption('24h'); // which nothing has asked for yet
  await expect.poll(() => refused, { timeout: 20_000 * patience }).toBeGreaterThan(1);
  expect(await page.evaluate(() => (window as unknown as { log: boolean[] }).log.includes(false))).toBe(false);
  site.server.override = () => null;
  site.server.staleSince = null;
  await site.server.tell('ask again');
  await banner(page).waitFor({ state: 'detached' });
});

const isStream = (path: string): boolean => path.startsWith('/api/v1/events?after');
const streamsOpen = (): number => [...site.server.openStreams].filter((each) => isStream(each)).length;

it('opens the stream of events anew when its connection alone is dead', async () => {
  const page = await site.open('/favicon.svg', { isOwn: true });
  await page.clock.install();
  await page.goto(site.server.url);
  await live(page);
  const before = site.server.count('GET', '/events?after');
  site.server.isDead = isStream;
  await page.clock.fastForward(36_000);
  await expect.poll(() => site.server.count('GET', '/events?after')).toBeGreaterThan(before);
  expect(await banner(page).count()).toBe(0); // the server itself answers all the time
  site.server.isDead = () => false;
  await live(page);
  expect(streamsOpen()).toBe(1);
});

it('does not call fine, when a hidden tab is shown, what was fine hours ago', async () => {
  let isAnswered = true;
  site.server.override = ({ path }) => {
    if (path !== '/api/v1/incidents') return noNode(path);
    return isAnswered ? noIncident() : new Response(new ReadableStream(), { headers: { 'Content-Type': 'application/json' } });
  };
  const page = await site.open('/incidents');
  await page.getByText('Nothing is wrong now').waitFor();
  await become(page, 'hidden');
  await page.getByText('paused', { exact: true }).waitFor({ timeout: 10_000 * patience });
  isAnswered = false;
  await page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 3 * 3_600_000;
  });
  await become(page, 'visible');
  await live(page);
  await page.getByText('Nobody knows now').waitFor();
  expect(await page.getByText('Nothing is wrong now').count()).toBe(0);
});

it('does not call a node well of which no check could tell, or nobody knows', async () => {
  const node = (await (await fetch(`${site.server.url}/api/v1/nodes/fire-0008`)).json()) as { checks: object[] };
  const check = (state: string) => ({ name: 'gpu_ecc', subject: 'gpu 0', state, text: 'x', at: new Date().toISOString(), tier: '', done: '', evidence: '' });
  let checks = [check('unknown')];
  site.server.override = ({ path }) => (path === '/api/v1/nodes/fire-0008' ? Response.json({ ...node, checks }) : null);
  const page = await site.open('/nodes/fire-0008');
  await page.getByText('No check could tell: 0 ok, 1 unknown.').waitFor();
  checks = [check('ok')];
  await site.server.tell('ask now');
  await page.getByText('Nothing is wrong: 1 ok.').waitFor();
  await site.server.kill();
  await page.getByText('Nobody knows now. When the server last said so: 1 ok.').waitFor();
});

it('shows facts that were old already as so old, when the server falls silent, too', async () => {
  const page = await site.open('/');
  await live(page);
  site.server.staleSince = new Date(Date.now() - 3_600_000).toISOString();
  await site.server.tell('ask now');
  await banner(page).getByText(/can decide nothing now/).waitFor();
  // What is known of later is not said to come.
  await page.locator('.failure').filter({ hasText: 'mass loss' }).getByText(withMoment(/^at MOMENT · needs a person$/)).waitFor();
  await site.server.kill();
  await banner(page).getByText(/No answer from the server/).waitFor();
  await banner(page).getByText(/^1h( \d+m)? old$/).waitFor();
});

it.each(['/jobs', '/nodes', '/map'])('counts nothing on %s while nobody tells', async (path) => {
  const refused = new Response(JSON.stringify({ title: 'not_found', detail: 'no such thing today', status: 404 }), { status: 404, headers: { 'Content-Type': 'application/problem+json' } });
  site.server.override = ({ path: asked }) => (/\/(jobs|nodes)\?/.test(asked) ? refused.clone() : null);
  const page = await site.open(path);
  await page.getByRole('alert').filter({ hasText: 'no such thing today' }).waitFor();
  const head = page.locator('main');
  expect(await head.innerText()).not.toMatch(/\b0\b|matches|registered/);
  expect(await page.locator('main [aria-busy=true]').count()).toBe(0);
});

it('does not say of what nobody answered that there is none', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] };
  const refused = new Response(JSON.stringify({ title: 'not_found', detail: 'no such thing today', status: 404 }), { status: 404, headers: { 'Content-Type': 'application/problem+json' } });
  site.server.override = ({ path }) => (/\/(attempts|checkpoints|progress)$/.test(path) ? refused.clone() : null);
  const page = await site.open(`/jobs/${jobs[0]!.id}`);
  const failures = page.getByRole('alert').filter({ hasText: 'no such thing today' });
  await expect.poll(() => failures.count()).toBe(3);
  expect(await page.getByText('No checkpoint reported').count()).toBe(0);
  site.server.override = () => null;
  await page.goto(`${site.server.url}/jobs/${jobs[0]!.id}?attempt=99`);
  await page.getByText('It has no attempt 99').waitFor();
});
