import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Job } from '../src/api/types';
import { patience } from './patience';
import { api, listen, look, openPage, stopAll, tell, until } from './story';

// The dashboard as hai-server serves it: its session is of the host whose other port has the services.
const story = tell();
let server = '';
let page: Page;

beforeAll(async () => {
  const home = inject('home');
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const words = ['dev', 'status', '--name', inject('cluster'), '--data', join(home, 'data'), '-o', 'json'];
  ({ http: server } = JSON.parse(execFileSync(join(inject('bin'), 'hai'), words, { env, encoding: 'utf8' })) as { http: string });
  page = await openPage(story.browser, server, look);
  listen(page, story.errors);
});
afterAll(stopAll);

const hasDashboard = existsSync(join(inject('bin'), '../share/hai/web/index.html'));
const hasJupyter = existsSync('/usr/bin/jupyter-notebook');

async function runs(job: Job): Promise<void> {
  await until(async () => (await api<Job>('GET', `/jobs/${job.id}`)).state === 'running');
}

async function popup(act: () => Promise<void>): Promise<Page> {
  const opened = page.context().waitForEvent('page');
  await act();
  return opened;
}

it.skipIf(!hasDashboard || !hasJupyter)('opens a notebook on a node, and computes in it', async () => {
  const workspace = join(inject('home'), 'notebook');
  mkdirSync(workspace, { recursive: true });
  copyFileSync(join(import.meta.dirname, '../../docs/examples/notebook.sh'), join(workspace, 'notebook.sh'));
  const example = readFileSync(join(import.meta.dirname, '../../docs/examples/notebook.yaml'), 'utf8').replace('@WORKSPACE@', workspace).replace('8888', String(await freePort()));
  const job = await api<Job>('POST', '/jobs', example);
  await runs(job);
  await page.goto(`${server}/jobs/${job.id}`);
  const notebook = await popup(() => page.getByRole('link', { name: 'jupyter', exact: true }).click());
  // Until Jupyter listens it is hai's page that looks again.
  await notebook.locator('#password_input').waitFor({ timeout: 60_000 * patience });
  // What it has written comes by another way than its page.
  let secret = '';
  await until(async () => {
    const log = await (await fetch(`${server}/api/v1/jobs/${job.id}/logs`, { headers: { Authorization: `Bearer ${inject('token')}` } })).text();
    secret = /the token is (\w+)\n/.exec(log)?.[1] ?? '';
    return secret !== '';
  });
  await notebook.locator('#password_input').fill(secret);
  await notebook.locator('#login_submit').click();
  await notebook.waitForURL(`**/jobs/${job.id}/jupyter/tree**`);
  await notebook.locator('#new-dropdown-button').click();
  const opened = page.context().waitForEvent('page');
  await notebook.locator('#new-menu').getByText('Python 3').first().click();
  const sheet = await opened;
  // Whether the kernel answers is said by WebSocket.
  await sheet.locator('#kernel_indicator_icon.kernel_idle_icon').waitFor({ timeout: 60_000 * patience });
  await sheet.locator('.CodeMirror').first().click();
  await sheet.keyboard.type('import os; print(6 * 7, os.environ["HAI_JOB_NAME"], os.environ["CUDA_VISIBLE_DEVICES"])');
  await sheet.keyboard.press('Shift+Enter');
  await sheet.locator('.output_text').filter({ hasText: /^\s*42 notebook \d/ }).first().waitFor();
  await sheet.close();
  await notebook.close();
}, 180_000 * patience);

it.skipIf(!hasDashboard)('opens any port by its number, and what is not there yet when it is', async () => {
  const script = 'echo ready > ready.html; until [ -e go ]; do sleep 0.1; done; exec python3 -m http.server --bind 127.0.0.1 $(cat go)';
  const workspace = join(inject('home'), 'served');
  mkdirSync(workspace, { recursive: true });
  const job = await api<Job>(
    'POST',
    '/jobs',
    ['version: 2', 'name: served', `spec: {workspace: ${workspace}, entrypoint: /bin/sh, parameters: ${JSON.stringify(`-c '${script}'`)}}`, 'resource: {gpus_per_node: 1}'].join('\n'),
  );
  await runs(job);
  const port = await freePort();
  await page.goto(`${server}/jobs/${job.id}`);
  await page.getByLabel('Port of rank 0').fill(String(port));
  const served = await popup(() => page.getByRole('button', { name: 'Open', exact: true }).click());
  await served.getByRole('heading', { name: 'Not there yet' }).waitFor();
  writeFileSync(join(workspace, 'go'), String(port));
  await served.getByRole('link', { name: 'ready.html' }).click({ timeout: 30_000 * patience });
  await served.getByText('ready', { exact: true }).waitFor();
  expect(served.url()).toMatch(new RegExp(`/jobs/${job.id}/${port}/ready.html$`));
  // Somebody who is not signed in is told what to do.
  const stranger = await openPage(story.browser, served.url(), { ...look, token: undefined });
  await stranger.getByText('Sign in to the dashboard at').waitFor();
  await stranger.context().close();
  await served.close();
  expect(story.errors).toEqual([]);
}, 90_000 * patience);

function freePort(): Promise<number> {
  return new Promise((done) => {
    const found = createServer().listen(0, '127.0.0.1', () => {
      const { port } = found.address() as AddressInfo;
      found.close(() => done(port));
    });
  });
}
