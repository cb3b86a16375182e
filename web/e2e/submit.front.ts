import { expect, it } from 'vitest';
import { visit } from './visit';

const site = visit();

it('takes commas and numbers as they are typed', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  const field = (name: string) => page.getByLabel(name, { exact: true });
  await field('Tags').pressSequentially('paper, nightly');
  expect(await field('Tags').inputValue()).toBe('paper, nightly');
  await field('Starts after').pressSequentially('7,8, x');
  expect(await file.inputValue()).toMatch(/tags:\s+- paper\s+- nightly\s+depends_on:\s+- "7"\s+- "8"\s+- x/);
  await field('Nodes').fill('');
  await field('Nodes').pressSequentially('02');
  expect(await field('Nodes').inputValue()).toBe('02');
  expect(await file.inputValue()).toContain('node_count: 2\n');
  await field('Name').focus();
  expect(await field('Nodes').inputValue()).toBe('2');
  await page.context().close();
});

it('keeps a draft and its comments while its page is left and loaded anew', async () => {
  const page = await site.open('/submit');
  const file = page.getByLabel('job file (YAML)');
  await file.fill('# for the paper\n' + (await file.inputValue()));
  await page.getByLabel('Name', { exact: true }).fill('kept');
  const pages = page.getByRole('navigation', { name: 'pages' });
  await pages.getByRole('link', { name: 'Quotas' }).click();
  await pages.getByRole('link', { name: 'Submit' }).click();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('kept');
  await page.reload();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('kept');
  expect(await file.inputValue()).toContain('# for the paper');
  await page.getByRole('button', { name: 'Start over' }).click();
  expect(await file.inputValue()).not.toContain('paper');
  await page.context().close();
});
