import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import type { Job } from '../src/api/types';
import { launch, type Look, openPage } from './browser';

const look: Look = { width: 1366, height: 768, scheme: 'light', token: inject('token') };
const base = inject('url');

// What the tests of all pages share: one browser, a page signed in as admin, the API behind it.
interface Story {
  page: Page;
  browser: Browser;
  errors: string[];
}

// What the page itself complains of, kept in `errors`. The browser also notes each answer that is a refusal: a
// story asks for what does not exist and kills servers, and a half-typed form is refused by the server.
export function listen(page: Page, errors: string[]): void {
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (line) => {
    const isComplaint = line.type() === 'error' || line.type() === 'warning';
    if (isComplaint && !line.text().startsWith('Failed to load resource')) errors.push(line.text());
  });
}

export function tell(): Story {
  const story = { errors: [] as string[] } as Story;
  beforeAll(async () => {
    story.browser = await launch();
    story.page = await openPage(story.browser, base, look);
    listen(story.page, story.errors);
    await story.page.getByText('live', { exact: true }).waitFor();
  });
  afterAll(() => story.browser.close());
  return story;
}

export async function api<T>(method: string, path: string, body?: string): Promise<T> {
  const response = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${inject('token')}` },
    ...(body === undefined ? {} : { body }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

let count = 0;

// A job that writes a line ten times a second until it is told to stop.
export function submit(part: { name?: string; nodes?: number; script?: string; priority?: string } = {}): Promise<Job> {
  count += 1;
  const name = part.name ?? `story-${process.pid}-${count}`;
  const script = part.script ?? 'i=0; while :; do i=$((i+1)); echo line $i of $HAI_NODE_RANK; sleep 0.1; done';
  const yaml = [
    'version: 2',
    `name: ${name}`,
    `priority: ${part.priority ?? 'normal'}`,
    `spec: {workspace: /tmp, entrypoint: /bin/sh, parameters: ${JSON.stringify(`-c '${script}'`)}}`,
    `resource: {group: training, node_count: ${part.nodes ?? 1}}`,
    'options: {suspend: {grace: 2s, signal: SIGTERM}}',
  ].join('\n');
  return api<Job>('POST', '/jobs', yaml);
}

export async function stopAll(): Promise<void> {
  const { jobs } = await api<{ jobs: Job[] }>('GET', '/jobs');
  for (const job of jobs) await api('POST', `/jobs/${job.id}/stop`);
  await until(async () => (await api<{ jobs: Job[] }>('GET', '/jobs')).jobs.length === 0);
}

// Asks again until it holds; the bound is the test's own.
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100));
}

export function dev(verb: string, ...args: string[]): string {
  const home = inject('home');
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const options = ['--name', inject('cluster'), '--data', join(home, 'data')];
  return execFileSync(join(inject('bin'), 'hai'), ['dev', verb, ...options, ...args], { env, encoding: 'utf8', timeout: 120_000 });
}

export const open = (page: Page, path: string): Promise<unknown> => page.goto(`${base}${path}`);
export { base, look, openPage };
