import { afterAll, expect, it } from 'vitest';
import type { Job, Node } from '../src/api/types';
import { patience } from './patience';
import { api, base, dev, open, stopAll, submit, tell, until } from './story';

const story = tell();
afterAll(stopAll);

it('drains a node with a reason, shows its job move, and opens it again', async () => {
  const { page } = story;
  const job = await submit();
  const where = async (): Promise<string> => (await api<Job>('GET', `/jobs/${job.id}`)).nodes[0] ?? '';
  await until(async () => (await where()) !== '');
  await open(page, `/nodes/${await where()}`);
  await page.getByRole('cell', { name: job.name }).waitFor();
  await page.getByRole('button', { name: 'Drain', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'What would happen?' }).click();
  await dialog.getByRole('cell', { name: job.name }).waitFor();
  await dialog.getByLabel('Reason').fill('new fan');
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.locator('.page-head .badge', { hasText: 'drained' }).waitFor();
  await page.getByText('new fan').first().waitFor();
  await page.getByText('Nothing runs here').waitFor();
  await page.getByRole('button', { name: 'Undrain', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undrain', exact: true }).click();
  await page.locator('.page-head .badge', { hasText: 'open' }).waitFor();
});

it('lets jobs end until a deadline, and drains what is empty before it', async () => {
  const { page } = story;
  await stopAll();
  const job = await submit({ nodes: 4 });
  await until(async () => (await api<Job>('GET', `/jobs/${job.id}`)).attempt_state === 'running');
  await open(page, '/nodes/node-1');
  await page.getByRole('button', { name: 'Drain', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('new rack');
  await dialog.getByRole('button', { name: 'in 4 h' }).click();
  await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.locator('.page-head .badge', { hasText: 'cordoned' }).waitFor();
  await page.getByText(/may end by themselves until .*\(in 3h 5\dm\)/).waitFor();
  const until4h = Date.parse((await api<Node>('GET', '/nodes/node-1')).drain_at ?? '') - Date.now();
  expect(Math.abs(until4h / 3_600_000 - 4)).toBeLessThan(0.05);
  expect((await api<Job>('GET', `/jobs/${job.id}`)).state).toBe('running');
  await api('POST', `/jobs/${job.id}/stop`);
  await page.locator('.page-head .badge', { hasText: 'drained' }).waitFor();
  await page.getByRole('row', { name: job.name }).getByText('stopped').first().waitFor();
  await page.getByRole('button', { name: 'open or not' }).click();
  await page.getByText(/cordoned, to be drained by/).first().waitFor();
  await page.getByRole('button', { name: 'Undrain', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undrain', exact: true }).click();
  await page.locator('.page-head .badge', { hasText: 'open' }).waitFor();
});

it('refuses a deadline that is over, and changes nothing', async () => {
  const results = await api<{ results: { code: string; message: string }[] }>(
    'POST', '/nodes/actions', JSON.stringify({ verb: 'drain', nodes: ['node-1'], reason: 'x', deadline: '2001-01-01T00:00:00Z' }));
  expect(results.results[0]).toMatchObject({ code: 'invalid_argument', message: 'deadline: 2001-01-01T00:00:00.000Z is over; name a time to come' });
  expect((await api<Node>('GET', '/nodes/node-1')).scheduling).toBe('open');
});

it('shows the checks of a node with what they saw', async () => {
  const { page } = story;
  await open(page, '/nodes/node-1');
  await page.getByText(/Nothing is wrong: \d+ ok/).waitFor();
  await page.getByRole('button', { name: /Show \d+ checks/ }).click();
  await page.getByRole('row', { name: /disk space/ }).first().getByText(/% free/).waitFor();
});

it('validates a node, as a job that the node\'s page leads to', async () => {
  const { page } = story;
  await stopAll();
  await open(page, '/nodes/node-2');
  await page.getByRole('button', { name: 'Validate', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Validate', exact: true }).click();
  await page.locator('.page-head .badge', { hasText: 'cordoned' }).waitFor();
  await page.getByText('repair', { exact: true }).waitFor();
  await api('POST', '/nodes/node-2/undrain');
  await page.locator('.page-head .badge', { hasText: 'open' }).waitFor();
});

it('cordons two nodes from the list', async () => {
  const { page } = story;
  await open(page, '/nodes');
  await page.getByLabel('select node-2').check();
  await page.getByLabel('select node-3').check();
  await page.getByRole('button', { name: /^Cordon/ }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('cables');
  await page.getByRole('dialog').getByRole('button', { name: 'Cordon', exact: true }).click();
  await page.getByText('Cordon: node-[2-3]').waitFor();
  await page.getByRole('button', { name: 'closed' }).click();
  await page.getByText('2 nodes').waitFor();
  for (const name of ['node-2', 'node-3']) await api('POST', `/nodes/${name}/undrain`);
  await page.getByText('No node matches').waitFor();
});

it('lights the GPUs of a job on the map, and opens it', async () => {
  const { page } = story;
  await stopAll();
  const job = await submit({ nodes: 4 });
  await until(async () => (await api<Node>('GET', '/nodes/node-4')).gpus_free === 0);
  await open(page, '/map');
  const canvas = page.locator('canvas');
  await canvas.waitFor();
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText(job.name).waitFor();
  // What was clicked stays, so that the pointer can go to its links.
  await canvas.click({ position: { x: 40, y: 60 } });
  await page.mouse.move(600, 5);
  await page.getByRole('button', { name: 'let go' }).waitFor();
  await page.getByRole('link', { name: 'node-1', exact: true }).waitFor();
  await canvas.focus();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'let go' }).waitFor({ state: 'detached' });
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: job.name }).waitFor();
});

it('shows by itself that a node is lost and that it is back', async () => {
  const { page } = story;
  await stopAll();
  await open(page, '/nodes');
  const row = page.getByRole('row', { name: 'node-4' });
  await row.getByText('up').waitFor();
  dev('kill', 'agent:node-4');
  await row.getByText('suspect').waitFor({ timeout: 30_000 * patience });
  dev('start', 'agent:node-4');
  await row.getByText('up').waitFor({ timeout: 30_000 * patience });
});

it('knows that nothing is wrong now', async () => {
  await open(story.page, '/incidents');
  await story.page.getByText('Nothing is wrong now').waitFor();
});

it('asks what a quota would change, sets it, and takes the limit back', async () => {
  const { page } = story;
  await open(page, '/quotas');
  await page.getByRole('button', { name: 'change quota of public in normal', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('no limit').uncheck();
  await dialog.getByLabel('Nodes', { exact: true }).fill('1');
  await dialog.getByRole('button', { name: 'What would happen?' }).click();
  await dialog.getByText(/No other job|because/).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Quota of public set').first().waitFor();
  await page.getByRole('img', { name: /of 1 used/ }).waitFor();
  await page.getByRole('button', { name: 'change quota of public in normal', exact: true }).click();
  await dialog.getByLabel('no limit').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('img', { name: /of 1 used/ }).waitFor({ state: 'detached' });
});

it('makes a user and shows a token of his once', async () => {
  const { page } = story;
  await open(page, '/quotas');
  await page.getByRole('button', { name: 'New user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('cleo');
  await dialog.getByLabel('Groups').fill('research, vision');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('cleo saved').waitFor();
  await page.getByRole('button', { name: 'change cleo' }).click();
  await dialog.getByRole('button', { name: 'New token' }).click();
  const secret = await dialog.getByText(/hai_[0-9a-f]{64}/).textContent();
  const me = await fetch(`${base}/api/v1/whoami`, { headers: { Authorization: `Bearer ${/hai_[0-9a-f]+/.exec(secret ?? '')?.[0]}` } });
  expect(((await me.json()) as { user: string }).user).toBe('cleo');
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
