import { expect, it } from 'vitest';
import { visit } from './visit';

const site = visit();

const go = (page: Awaited<ReturnType<typeof site.open>>, name: string) =>
  page.getByRole('navigation', { name: 'pages' }).getByRole('link', { name }).click();

it('never shows an empty page while the server is away, and goes on by itself', async () => {
  const page = await site.open('/', { isOwn: true });
  await page.getByText('live', { exact: true }).waitFor();
  await site.server.kill();
  await go(page, 'Nodes');
  await page.getByText('could not be loaded').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('does not answer yet').waitFor();
  await go(page, 'Overview'); // what is loaded still works
  await page.getByText('Jobs waiting').waitFor();
  await go(page, 'Nodes');
  await page.getByText('could not be loaded').waitFor();
  await site.server.start();
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
});

it('loads itself once, and not in a circle, when an upgrade took its files', async () => {
  const page = await site.open('/', { isOwn: true });
  await page.getByText('live', { exact: true }).waitFor();
  let loads = 0;
  page.on('load', () => (loads += 1));
  site.server.isAsset = (path) => !path.includes('NodesPage');
  await go(page, 'Nodes');
  await page.getByText('still lacks a file').waitFor();
  expect(loads).toBe(1);
  site.server.isAsset = () => true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Nodes', level: 1 }).waitFor();
});
