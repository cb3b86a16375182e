import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { launch, openPage } from './browser';
import { type Act, readGuide, readItem } from './guide';
import { patience } from './patience';
import { base, listen, look, stopAll } from './story';

// docs/tutorial-dashboard.md, done to the letter: each sentence of it is an act here.
const root = resolve(import.meta.dirname, '../..');
const guide = readGuide(join(root, 'docs/tutorial-dashboard.md'));
const checkpoints = mkdtempSync(join(tmpdir(), 'hai-tutorial-'));
const patienceMs = 60_000 * patience;

const stateWords = ['queued', 'running', 'suspended', 'succeeded', 'failed', 'stopped', 'open', 'cordoned', 'draining', 'drained'];

let page: Page;
const errors: string[] = [];
beforeAll(async () => {
  await stopAll();
  const browser = await launch();
  page = await openPage(browser, 'about:blank', { ...look, token: '' });
  listen(page, errors);
});
afterAll(async () => {
  await page.context().browser()?.close();
  await stopAll();
  rmSync(checkpoints, { recursive: true, force: true });
});

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
const own = (value: string): string => value.replace('/home/you/hai', root).replace('/tmp/train', checkpoints);

// What a person looks at: the dialog if one is open.
async function scope(): Promise<Page | Locator> {
  const dialog = page.getByRole('dialog');
  return (await dialog.count()) > 0 ? dialog : page;
}

// A label may go on in brackets: Reason (shown wherever the node is).
async function field(name: string, kind: string): Promise<Locator> {
  return (await scope()).getByLabel(new RegExp(`^${escaped(name)}`, 'i')).and(page.locator(kind)).first();
}

function shown(name: string): Locator {
  if (stateWords.includes(name)) return page.locator('.page-head .badge').getByText(name, { exact: true });
  // Whole words: training is not train.
  return page.getByText(new RegExp(`(^|[^\\w-])${escaped(name)}($|[^\\w-])`)).filter({ visible: true }).first();
}

async function perform(act: Act): Promise<unknown> {
  const timeout = patienceMs;
  switch (act.verb) {
    case 'open-address':
      return page.goto(`${base}/#token=${inject('token')}`);
    case 'go':
      return page.getByRole('navigation', { name: 'pages' }).getByRole('link', { name: act.name }).click();
    case 'open':
      return page.getByRole('link', { name: act.name, exact: true }).first().click();
    case 'press':
      return (await scope()).getByRole('button', { name: act.name, exact: true }).click();
    case 'type':
      return (await field(act.name, 'input, textarea')).fill(own(act.value));
    case 'choose':
      return (await field(act.name, 'select')).selectOption({ label: act.value });
    case 'row':
      return page.getByRole('row').filter({ hasText: act.name }).filter({ hasText: act.value }).first().waitFor({ timeout });
    case 'see':
      return shown(act.name).waitFor({ timeout });
  }
}

it('reads sentences as acts, and refuses a bold word without a verb', () => {
  const act = (verb: Act['verb'], name: string, value = ''): Partial<Act> => ({ verb, name, value });
  expect(readItem('Type `a` into **Name** and choose `b` in **Priority**. See **x**, and **y** beside **z**.')).toMatchObject([
    act('type', 'Name', 'a'), act('choose', 'Priority', 'b'), act('see', 'x'), act('see', 'y'), act('see', 'z'),
  ]);
  expect(readItem('Wait for **suspended** in the row of **train**.')).toMatchObject([act('row', 'train', 'suspended')]);
  expect(() => readItem('Here is **something**.')).toThrow('nothing says what to do with **something**');
  expect(() => readItem('Press **a**. Now **b**.')).toThrow('**b**');
});

it('has steps, and each of them something to do', () => {
  expect(guide.length).toBeGreaterThan(7);
  expect(guide.filter((step) => step.acts.length === 0)).toEqual([]);
});

let isLost = false;
for (const step of guide) {
  it(step.title, { timeout: 2 * patienceMs }, async ({ skip }) => {
    skip(isLost, 'a step before it failed');
    isLost = true;
    for (const act of step.acts) {
      try {
        await perform(act);
      } catch (error) {
        throw new Error(`${act.verb} ${act.name} ${act.value}\nof: ${act.sentence}\nat ${page.url()}`, { cause: error });
      }
    }
    isLost = false;
  });
}

it('has written no error or warning into the console', () => expect(errors).toEqual([]));
