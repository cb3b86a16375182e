import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { patience } from './patience';
import { api, open, stopAll, submit, tell } from './story';

const story = tell();
afterAll(stopAll);

const state = (word: string) => story.page.locator('.page-head .badge', { hasText: word });
const confirm = async (verb: string): Promise<void> => {
  const { page } = story;
  await page.getByRole('group', { name: 'actions' }).getByRole('button', { name: verb, exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('a test');
  await dialog.getByRole('button', { name: verb, exact: true }).click();
};

it('shows on the overview, without a reload, that a job runs', async () => {
  const { page } = story;
  await open(page, '/');
  await page.getByText('0 %').first().waitFor();
  const job = await submit({ nodes: 2 });
  await page.getByText('50.0 %').first().waitFor();
  await page.getByText('in 1 job').first().waitFor();
  await open(page, `/jobs/${job.id}`);
  await confirm('Stop');
  await state('stopped').waitFor();
});

it('follows the log of each rank and finds words in it', async () => {
  const { page } = story;
  const job = await submit({ nodes: 2 });
  await open(page, `/jobs/${job.id}`);
  const box = page.getByRole('log');
  await box.getByText('line 3 of 0').waitFor();
  await page.getByLabel('rank', { exact: true }).selectOption('1');
  await page.getByRole('log').getByText(/line \d+ of 1/).first().waitFor();
  expect(page.url()).toContain('rank=1');
  // On the server, in both ranks; the last line found is the other rank's.
  await box.getByText('line 20 of 1').waitFor();
  await page.getByLabel('search the log').fill('LINE 12 ');
  await page.keyboard.press('Enter');
  await page.getByText(/^2 lines in 2 logs/).waitFor();
  await page.getByRole('list', { name: 'lines found' }).getByText('line 12 of 0').click();
  await page.locator('.log-line[data-hit]', { hasText: 'line 12 of 0' }).waitFor();
  expect(await page.getByLabel('rank', { exact: true }).inputValue()).toBe('0');
  expect(await page.locator('.log mark').first().innerText()).toBe('line 12 ');
  const downloading = page.waitForEvent('download');
  await confirm('Stop');
  await state('stopped').waitFor();
  await page.getByText(/^complete, /).waitFor();
  await page.getByRole('link', { name: 'download compressed' }).click();
  const text = gunzipSync(readFileSync(await (await downloading).path())).toString();
  expect(text).toMatch(/ line 1 of 0\n/);
  expect(text.endsWith('\n')).toBe(true);
});

it('suspends, resumes, changes the priority of and stops a job', async () => {
  const { page } = story;
  const job = await submit();
  await open(page, `/jobs/${job.id}`);
  await state('running').waitFor();
  await confirm('Suspend');
  await state('suspended').waitFor();
  await page.getByRole('heading', { name: 'Why it waits' }).waitFor();
  await page.getByRole('group', { name: 'actions' }).getByRole('button', { name: /Resume|Release/ }).first().waitFor();
  await confirm((await page.getByRole('button', { name: 'Resume', exact: true }).isVisible()) ? 'Resume' : 'Release');
  await state('running').waitFor();
  await page.getByRole('button', { name: /Priority/ }).click();
  await page.getByRole('menuitem', { name: 'high', exact: true }).click();
  await page.getByText(/· high ·/).waitFor();
  await page.locator('.timeline i[data-phase=suspending]').waitFor();
  await confirm('Stop');
  await state('stopped').waitFor();
});

it('holds and releases a waiting job and says why it waits', async () => {
  const { page } = story;
  await stopAll();
  const wide = await submit({ nodes: 4 });
  const waiting = await submit({ nodes: 4 });
  await open(page, `/jobs/${waiting.id}`);
  await page.getByText(/needs 4 whole nodes/).first().waitFor();
  await page.locator('a.tag', { hasText: `job ${wide.id}` }).first().waitFor();
  await confirm('Hold');
  await state('held').waitFor();
  await confirm('Release');
  await state('held').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /Order/ }).click();
  await page.getByRole('menuitem', { name: /^first/ }).click();
  await page.getByText(/moved first/).waitFor();
});

it('stops several at once from the list, by keyboard', async () => {
  const { page } = story;
  await stopAll();
  const jobs = [await submit(), await submit(), await submit()];
  await open(page, '/jobs');
  await page.getByRole('row', { name: jobs[2]!.name }).waitFor();
  for (const key of ['j', 'x', 'j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByText('3 selected').waitFor();
  await page.getByRole('group', { name: 'actions' }).getByRole('button', { name: /^Stop/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stop: 3 jobs').waitFor();
  await page.getByText('No job matches').waitFor();
});

it('adds a new job to the list by itself, and opens it with Enter', async () => {
  const { page } = story;
  await open(page, '/jobs');
  await page.getByText('No job matches').waitFor();
  const job = await submit();
  await page.getByRole('row', { name: job.name }).getByText('running').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: job.name }).waitFor();
});

it('shows in a list that was left what came meanwhile', async () => {
  const { page } = story;
  const pages = page.getByRole('navigation', { name: 'pages' });
  await open(page, '/jobs');
  await page.locator('.grid-row, .empty').first().waitFor();
  await pages.getByRole('link', { name: 'Overview' }).click();
  const job = await submit();
  await page.waitForResponse((response) => response.url().includes('/cluster'));
  await pages.getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('row', { name: job.name }).waitFor({ timeout: 8_000 * patience });
});

it('keeps a view under a name', async () => {
  const { page } = story;
  await open(page, '/jobs?state=failed&sort=node_count');
  await page.getByRole('button', { name: /Own filter/ }).click();
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Big failures');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.reload();
  await page.getByRole('button', { name: /Big failures/ }).waitFor();
});

it('checks a job before it is sent, sends it, and runs it again', async () => {
  const { page } = story;
  await open(page, '/submit');
  await page.getByLabel('Name', { exact: true }).fill('from the form');
  await page.getByLabel('Workspace').fill('/tmp');
  await page.getByLabel('Entrypoint').fill('/bin/sleep');
  await page.getByLabel('Parameters').fill('300');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('from-the-form');
  await page.getByText('valid', { exact: true }).waitFor();
  await page.getByText('even odds').waitFor();
  const file = page.getByLabel('job file (YAML)');
  await file.fill(`${await file.inputValue()}colour: red\n`);
  await page.getByRole('alert').getByText(/colour/).waitFor();
  await file.fill((await file.inputValue()).replace('colour: red\n', ''));
  await page.getByText('valid', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByRole('heading', { name: 'from-the-form' }).waitFor();
  await state('running').waitFor();
  await page.getByRole('link', { name: 'Run again' }).click();
  await page.getByRole('heading', { name: 'Run from-the-form again' }).waitFor();
  expect(await page.getByLabel('Parameters').inputValue()).toBe('300');
  await page.getByRole('alert').getByText(/from-the-form/).waitFor(); // the name is taken while it runs
  await page.getByLabel('Name', { exact: true }).fill('once-more');
  await page.getByText('valid', { exact: true }).waitFor();
});

it('says to an admin who did what with a job and a node, from the audit log', async () => {
  const { page } = story;
  const job = await submit();
  await api('POST', `/jobs/${job.id}/stop`);
  await api('POST', '/nodes/node-2/cordon', JSON.stringify({ reason: 'a look at its fan' }));
  await api('POST', '/nodes/node-2/undrain', JSON.stringify({ reason: 'it turns' }));
  const lines = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Who did what with it' }) });
  await open(page, `/jobs/${job.id}`);
  await lines.getByRole('row').filter({ hasText: 'ControlJob' }).filter({ hasText: 'stop' }).first().waitFor();
  await open(page, '/nodes/node-2');
  await lines.getByRole('row').filter({ hasText: 'ControlNode' }).filter({ hasText: 'cordon' }).first().waitFor();
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
