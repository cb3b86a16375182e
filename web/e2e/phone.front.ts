// Every page, form, dialog and menu on a phone, in both schemes of colours.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { AuditEntry, Job, Token } from '../src/api/types';
import { faultsIn } from './axe';
import { goTo, isAll, patience } from './patience';
import { visit } from './visit';

const site = visit();
const phone = { width: 360, height: 740 };
const settleMs = 3_000 * patience;
const hourMs = 3_600_000;
const at = (inMs: number): string => new Date(Date.now() + inMs).toISOString();

// Of axe's rules these depend on the scheme of colours.
const ofColours = ['color-contrast', 'link-in-text-block'];

// What can be reached only sideways: of the page, and of what lies before it.
const wider = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const scrolling = [document.documentElement, ...document.querySelectorAll('main, [role=dialog], [role=menu]')].filter((box) => box.scrollWidth > box.clientWidth);
    const cut = [...document.querySelectorAll('[role=dialog], [role=menu], .toast')].filter((each) => {
      const { left, right } = each.getBoundingClientRect();
      return left < 0 || right > innerWidth;
    });
    return [...scrolling.map((box) => `${box.localName} ${box.className} scrolls sideways: ${box.scrollWidth} > ${box.clientWidth}`), ...cut.map((each) => `${each.className} is cut off`)];
  });

// Charts follow the width a frame or two later, and colours fade: a fault is what is still there after a while.
async function lasting(look: () => Promise<string[]>): Promise<string[]> {
  const end = Date.now() + settleMs;
  let found = await look();
  while (found.length > 0 && Date.now() < end) found = await look();
  return found;
}

class Looks {
  readonly faults: Record<string, string[]> = {};

  constructor(private readonly page: Page) {}

  // `part`: what has appeared, where the page behind it was looked at before.
  async at(name: string, part = 'html'): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme });
      const rules = isAll || colorScheme === 'light' ? [] : ofColours;
      const found = await lasting(async () => [...(await wider(this.page)), ...(await faultsIn(this.page, part, ...rules))]);
      if (found.length > 0) this.faults[`${name}, ${colorScheme}`] = found;
    }
    if (process.env.HAI_PICTURES) await this.take(`${process.env.HAI_PICTURES}/phone-${name.replace(/[^a-z0-9]+/gi, '-')}.png`);
  }

  // As long as the page is.
  private async take(path: string): Promise<void> {
    const height = await this.page.evaluate(() => {
      const main = document.querySelector('main');
      const bottom = main ? main.getBoundingClientRect().top + main.scrollHeight : 0;
      return Math.ceil(Math.max(innerHeight, bottom, document.documentElement.scrollHeight));
    });
    await this.page.setViewportSize({ ...phone, height: Math.min(4_000, height) });
    await this.page.screenshot({ path });
    await this.page.setViewportSize(phone);
  }
}

const json = async <T>(path: string): Promise<T> => (await (await fetch(`${site.server.url}/api/v1/${path}`)).json()) as T;
const jobOf = async (query: string): Promise<number> => (await json<{ jobs: Job[] }>(`jobs?limit=1&${query}`)).jobs[0]!.id;

const tokens: Token[] = [
  { id: 'k3v9qpl2xw', user: 'ann', label: 'laptop at home', created_at: at(-100 * hourMs), expires_at: at(900 * hourMs), last_used_at: at(-hourMs), scope: 'submit', session: false },
  { id: 'm8r2zzt7aa', user: 'ann', label: '', created_at: at(-hourMs), expires_at: at(8 * hourMs), last_used_at: null, scope: 'admin', session: true },
];
const targets: Record<string, string> = { SetQuota: 'quota/research/training/normal', SetUser: 'user/ben', SetKnob: 'knob/defrag_moves_per_hour', CreateToken: 'user/ann' };

// Tokens and the audit log, which the demo's world lacks.
function answerPeople({ path, method }: { path: string; method: string }): Response | null {
  const call = /\/audit.*call=(\w+)/.exec(path)?.[1] ?? '';
  const entry = (target: string): AuditEntry => ({ seq: 5_120, at: at(-hourMs), user: 'ann', token: 'k3v9qpl2xw', address: '10.0.0.1', call, target, result: 'ok', text: '', hash: 'h' });
  if (call in targets) return Response.json({ entries: [entry(targets[call]!)], next_cursor: null });
  if (!path.startsWith('/api/v1/tokens')) return null;
  return method === 'POST' ? Response.json({ ...tokens[0], secret: `hai_${'x7Kq'.repeat(12)}` }, { status: 201 }) : Response.json({ tokens, next_cursor: null });
}

// The address of each page that has none of its own is asked for. In parts, so that no test takes long.
const parts: [name: string, pages: Record<string, (() => Promise<string>) | null>][] = [
  ['of the cluster', {
    '/': null, '/now': null, '/map': null, '/map?color=utilisation': null, '/nodes': null, '/nodes?scheduling=closed': null, '/nodes/fire-0007': null,
    'a node that is down': async () => `/nodes/${(await json<{ nodes: { name: string }[] }>('nodes?liveness=down')).nodes[0]!.name}`,
    '/incidents': null,
    'a closed incident': async () => `/incidents?id=${(await json<{ incidents: { id: number }[] }>('incidents?state=closed')).incidents[0]!.id}`,
    '/runbooks': null, '/history?days=90&compare=1': null,
  }],
  ['of jobs', {
    '/jobs': null, '/jobs?state=all&by=user': null, '/queue': null, '/mine': null, '/submit': null, '/compare': null,
    'two jobs compared': async () => `/compare?a=${await jobOf('state=running')}&b=${await jobOf('state=failed')}`,
    ...Object.fromEntries(['running', 'queued', 'failed', 'suspended', 'succeeded'].map((state) => [`a ${state} job`, async () => `/jobs/${await jobOf(`state=${state}`)}`])),
    'a shell': async () => `/jobs/${await jobOf('state=running&user=ann')}/shell`,
  }],
  ['of people, and of nothing', { '/quotas': null, '/knobs': null, '/account': null, '/nothing': null, '/jobs/999999': null, '/nodes/nobody': null }],
];

it.each(parts)('scrolls no page %s sideways, and everybody can read and operate it in both schemes of colours', async (_, pages) => {
  site.server.override = answerPeople;
  site.server.hasShortQueue = true;
  const page = await site.open('/', phone);
  const looks = new Looks(page);
  for (const [name, address] of Object.entries(pages)) {
    await goTo(page, address ? await address() : name);
    if (name !== '/now') await page.locator('.live').getByText('live', { exact: true }).waitFor();
    await looks.at(name);
  }
  expect(looks.faults).toEqual({});
});

it('fits dialogs and menus', async () => {
  site.server.override = answerPeople;
  const page = await site.open('/', phone);
  const looks = new Looks(page);
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).first().click();
  const look = async (name: string, role: 'dialog' | 'menu'): Promise<void> => {
    await page.getByRole(role).waitFor();
    await looks.at(name, `[role=${role}]`);
    await page.keyboard.press('Escape');
    await page.getByRole(role).waitFor({ state: 'detached' });
  };
  await page.locator('.live').getByText('live', { exact: true }).waitFor();
  await page.keyboard.press('?');
  await look('the keys', 'dialog');
  await page.getByTitle('account').click();
  await look('the account', 'menu');
  await goTo(page, '/jobs?q=llm');
  await press('Own filter ▾');
  await look('the views', 'menu');
  await press('Own filter ▾');
  await page.getByRole('menuitem', { name: 'Save this view…' }).click();
  await look('a view saved', 'dialog');
  await press('any user ▾');
  await look('the users', 'menu');
  await goTo(page, `/jobs/${await jobOf('state=queued')}`);
  await press('Order ▾');
  await look('the order', 'menu');
  await press('Stop');
  await look('a job stopped', 'dialog');
  await goTo(page, '/nodes/fire-0007');
  await press('Drain');
  await press('What would happen?');
  await page.getByRole('dialog').getByText('would save and go on elsewhere').first().waitFor();
  await look('a node drained', 'dialog');
  await goTo(page, '/incidents');
  await press('Close');
  await look('an incident closed', 'dialog');
  await goTo(page, '/history?days=7');
  await press('save Waiting time');
  await look('a chart saved', 'menu');
  await goTo(page, '/quotas');
  await press('New quota');
  await look('a quota', 'dialog');
  await press('change ben');
  await press('What would happen?');
  await page.getByRole('dialog').getByText('No other job would fare differently.').waitFor();
  await look('a user', 'dialog');
  await goTo(page, '/knobs');
  await press('change min_quantum');
  await look('a knob', 'dialog');
  await goTo(page, '/account');
  await press('New token');
  await page.getByLabel('Label, for you to know it by').fill('laptop');
  await press('Make it');
  await page.getByRole('dialog').getByText('Shown once').waitFor();
  await look('a new token', 'dialog');
  await press('revoke laptop at home');
  await look('a token revoked', 'dialog');
  expect(looks.faults).toEqual({});
});

it('fits what it says when something goes wrong', async () => {
  site.server.isAsset = (path) => !path.includes('RunbooksPage');
  const page = await site.open('/submit', { ...phone, isOwn: true });
  const looks = new Looks(page);
  for (const [field, text] of [['Name', 'llm-7b-pretrain'], ['Workspace', '/data/ann/llm'], ['Entrypoint', 'train.py'], ['Nodes', '16']] as const) await page.getByLabel(field, { exact: true }).fill(text);
  await page.getByText('even odds').first().waitFor();
  await looks.at('a filled form');
  await goTo(page, '/quotas');
  await page.getByRole('button', { name: 'change quota of ann in normal', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await looks.at('a refusal', '[role=dialog]');
  await page.keyboard.press('Escape');
  site.server.override = ({ path }) => (path === '/api/v1/nodes/actions' ? Response.json({ results: [{ name: 'fire-0007', job_id: null, code: 'ok', message: '' }] }) : null);
  await goTo(page, '/nodes/fire-0007');
  await page.getByRole('button', { name: 'Validate', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Validate', exact: true }).click();
  await page.locator('.toast').first().waitFor();
  await looks.at('a toast');
  await goTo(page, '/runbooks');
  await page.getByText('still lacks a file').waitFor();
  await looks.at('a page that is not there');
  site.server.override = () => null;
  site.server.staleSince = at(-hourMs);
  await goTo(page, '/');
  await site.server.tell('ask now');
  await page.getByText(/can decide nothing now/).waitFor();
  await looks.at('old facts');
  await site.server.kill();
  await page.getByText(/No answer from the server/).waitFor();
  await looks.at('a silent server');
  expect(looks.faults).toEqual({});
});

it('lets people sign in', async () => {
  site.server.override = ({ path }) => (path.startsWith('/api/') ? Response.json({ title: 'unauthenticated', detail: 'no session', status: 401 }, { status: 401 }) : null);
  const page = await site.open('/', phone);
  await page.getByLabel('Token').fill('hai_x');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  const looks = new Looks(page);
  await looks.at('signing in');
  expect(looks.faults).toEqual({});
});
