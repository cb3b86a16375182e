import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { visit } from './visit';

const site = visit();

it('takes commas and numbers as they are typed', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  const field = (name: string) => page.getByLabel(name, { exact: true });
  await field('Tags').pressSequentially('paper, nightly');
  await expect.poll(() => field('Tags').inputValue()).toBe('paper, nightly');
  await field('Starts after').pressSequentially('7,8, x');
  await expect.poll(() => file.inputValue()).toMatch(/tags:\s+- paper\s+- nightly\s+depends_on:\s+- "7"\s+- "8"\s+- x/);
  await field('Nodes').fill('');
  await field('Nodes').pressSequentially('02');
  await expect.poll(() => field('Nodes').inputValue()).toBe('02');
  await expect.poll(() => file.inputValue()).toContain('node_count: 2\n');
  await field('Nodes').press('Tab'); // a script's focus leaves a field of Firefox's only in the window that is in front
  await expect.poll(() => field('Nodes').inputValue()).toBe('2');
});

it('shows what the job file has where it is none of the usual choices', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  const gpus = page.getByLabel('GPUs of each');
  const text = await file.inputValue();
  await file.fill(text.replace('resource:\n', 'resource:\n  gpus_per_node: 3\n'));
  await expect.poll(() => gpus.inputValue()).toBe('3');
  await gpus.selectOption('4');
  await expect.poll(() => file.inputValue()).toContain('gpus_per_node: 4\n');
  await expect.poll(() => gpus.locator('option').count()).toBe(6);
});

it('keeps a draft and its comments while its page is left and loaded anew', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  await file.fill('# for the paper\n' + (await file.inputValue()));
  await page.getByLabel('Name', { exact: true }).fill('kept');
  const pages = page.getByRole('navigation', { name: 'pages' });
  await pages.getByRole('link', { name: 'Quotas' }).click();
  await pages.getByRole('link', { name: 'Submit' }).click();
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('kept');
  await page.reload();
  await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('kept');
  await expect.poll(() => file.inputValue()).toContain('# for the paper');
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect.poll(() => file.inputValue()).not.toContain('paper');
});

it('takes variables and a time limit, and keeps what was written beside them', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  await file.fill((await file.inputValue()).replace('spec:\n', 'spec:\n  environments:\n    A: "1" # for the paper\n    B: b\n'));
  const variables = page.getByLabel('Environment', { exact: true });
  await expect.poll(() => variables.inputValue()).toBe('A=1\nB=b');
  await variables.fill('');
  await variables.pressSequentially('A=1\nNCCL_DEBUG=INFO\nhalf');
  await expect.poll(() => variables.inputValue()).toBe('A=1\nNCCL_DEBUG=INFO\nhalf');
  await page.getByLabel('Time limit').fill('12h');
  await expect.poll(() => file.inputValue()).toContain('environments:\n    A: "1"\n    NCCL_DEBUG: INFO\n');
  await expect.poll(() => file.inputValue()).toContain('timeout: 12h');
});

it('begins with the job file of the last job, or of one that is named', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?finished=true&user=ann&limit=1`)).json()) as { jobs: Job[] };
  const page = await site.open('/submit');
  await page.getByRole('button', { name: 'Like my last' }).click();
  await page.getByRole('heading', { name: `Run ${jobs[0]!.name} again` }).waitFor();
  await page.goto(`${site.server.url}/submit`);
  const other = ((await (await fetch(`${site.server.url}/api/v1/jobs?limit=9&user=ben`)).json()) as { jobs: Job[] }).jobs[0]!;
  await page.getByLabel('like job').fill(String(other.id));
  await page.getByLabel('like job').press('Enter');
  await page.getByRole('heading', { name: `Run ${other.name} again` }).waitFor();
});

const problem = (status: number, title: string, detail: string): Response =>
  new Response(JSON.stringify({ title, detail, status }), { status, headers: { 'Content-Type': 'application/problem+json' } });

it('does not call a job file wrong that nobody judged, and lets it be sent', async () => {
  site.server.override = ({ path }) => (path.endsWith('/whatif') ? problem(503, 'unavailable', 'no leader') : null);
  const page = await site.open('/submit');
  await page.getByLabel('Name', { exact: true }).fill('unjudged');
  await page.getByLabel('Entrypoint', { exact: true }).fill('a.py');
  await page.getByText('not judged', { exact: true }).waitFor();
  await page.getByText('Nobody could judge this job file now').waitFor();
  expect(await page.getByText('not valid', { exact: true }).count()).toBe(0);
  site.server.override = () => null;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('valid', { exact: true }).waitFor();
});

it('forgets a verdict with its text, sends once, and forgets why it failed', async () => {
  const page = await site.open('/submit');
  const send = page.getByRole('button', { name: /^Submit/ });
  await page.getByLabel('Name', { exact: true }).fill('first');
  await page.getByLabel('Entrypoint', { exact: true }).fill('a.py');
  await page.getByText('valid', { exact: true }).waitFor();
  let hold: () => void = () => undefined;
  site.server.override = ({ path, method }) => {
    if (path.endsWith('/whatif')) return new Response(new ReadableStream({ start: (body) => (hold = () => body.close()) }), { headers: { 'Content-Type': 'application/json' } });
    return path === '/api/v1/jobs' && method === 'POST' ? problem(429, 'resource_exhausted', 'too many at once') : null;
  };
  await page.getByLabel('Name', { exact: true }).fill('second');
  await page.getByText('asking', { exact: true }).waitFor();
  expect(await page.getByText('valid', { exact: true }).count()).toBe(0);
  expect(await send.isDisabled()).toBe(true);
  await page.getByLabel('Name', { exact: true }).fill('first'); // judged before
  await expect.poll(() => send.isDisabled()).toBe(false);
  await send.click();
  await page.getByText('too many at once').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('third');
  await page.getByText('too many at once').waitFor({ state: 'detached' });
  hold();
});

it('takes CPUs and memory of each node, and the page of the job says them again', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  await page.getByLabel('CPUs of each').pressSequentially('16');
  await page.getByLabel('Memory of each').pressSequentially('64Gi');
  await expect.poll(() => file.inputValue()).toContain('cpus_per_node: 16\n  memory_per_node: 64Gi\n');
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] };
  const facts = page.locator('.panel').filter({ has: page.getByRole('heading', { name: 'Asked for' }) });
  let yaml = await file.inputValue();
  site.server.override = ({ path }) => (path.endsWith('/spec') ? new Response(yaml) : null);
  await page.goto(`${site.server.url}/jobs/${jobs[0]!.id}`);
  await facts.getByText('16 of each node').waitFor();
  await facts.getByText('64Gi of each node').waitFor();
  yaml = 'name: a';
  await page.reload();
  await facts.getByText(/all of the node|in proportion to its GPUs/).first().waitFor();
  site.server.override = ({ path }) => (path.endsWith('/spec') ? Response.json({ title: 'permission_denied', detail: 'of ben', status: 403 }, { status: 403 }) : null);
  await page.reload();
  await facts.getByText('not known: of ben').first().waitFor();
});

it('takes that a job makes room for nobody, keeps it with a job like it, and the page of the job says it', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  const interactive = page.getByRole('combobox', { name: 'Interactive', exact: true });
  await file.fill(`# for the debugger\n${await file.inputValue()}options:\n  tags: [x] # mine\n`);
  await interactive.selectOption('yes: makes room for nobody once it runs');
  await expect.poll(() => file.inputValue()).toMatch(/^# for the debugger\n[^]*options:\n {2}tags: \[ x \] # mine\n {2}interactive: true\n$/);
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=1`)).json()) as { jobs: Job[] };
  const yaml = await file.inputValue();
  site.server.override = ({ path }) => (path.endsWith('/spec') ? new Response(yaml) : null);
  await page.goto(`${site.server.url}/jobs/${jobs[0]!.id}`);
  await page.getByText('makes room for nobody once it runs').waitFor();
  await page.getByRole('link', { name: 'Run again' }).click();
  await page.getByRole('heading', { name: `Run ${jobs[0]!.name} again` }).waitFor();
  await expect.poll(() => interactive.inputValue()).toBe('true');
  await interactive.selectOption('no: makes room for others');
  await expect.poll(() => file.inputValue()).toBe(yaml.replace('  interactive: true\n', ''));
  site.server.override = ({ path }) => (path.endsWith('/spec') ? new Response('name: a') : null);
  await page.goto(`${site.server.url}/jobs/${jobs[0]!.id}`);
  await page.getByText('in proportion to its GPUs').or(page.getByText('all of the node')).first().waitFor();
  expect(await page.getByText('makes room for nobody').count()).toBe(0);
});
