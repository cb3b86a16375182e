import { afterAll, expect, it } from 'vitest';
import type { Job, Node } from '../src/api/types';
import { api, dev, open, stopAll, submit, tell, until } from './story';

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
  await row.getByText('suspect').waitFor({ timeout: 30_000 });
  dev('start', 'agent:node-4');
  await row.getByText('up').waitFor({ timeout: 30_000 });
});

it('knows that nothing is wrong now', async () => {
  await open(story.page, '/incidents');
  await story.page.getByText('Nothing is wrong now').waitFor();
});

it('asks what a quota would change, and sets it or says how', async () => {
  const { page } = story;
  await open(page, '/quotas');
  await page.getByRole('button', { name: 'change quota of public in normal', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('no limit').uncheck();
  await dialog.getByLabel('Nodes', { exact: true }).fill('1');
  await dialog.getByRole('button', { name: 'What would happen?' }).click();
  await dialog.getByText(/No other job|because/).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/Quota of public set|hai quota set public \* normal 1/).waitFor();
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
