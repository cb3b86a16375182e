import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { AuditEntry, Token } from '../src/api/types';
import { visit } from './visit';

const site = visit();
const json = (body: unknown, status = 200): Response => Response.json(body, { status });
const entry = (part: Partial<AuditEntry>): AuditEntry => ({ seq: 512, at: new Date().toISOString(), user: 'ann', token: 't1', address: '10.0.0.1', call: 'SetKnob', target: 'knob/min_quantum', result: 'ok', text: '', hash: 'h', ...part });

it('makes a token, shows its secret once, and revokes it, each with its entry of the audit log', async () => {
  const tokens: Token[] = [];
  const audit: AuditEntry[] = [];
  const bodies: unknown[] = [];
  site.server.override = ({ path, method }, body) => {
    if (path.startsWith('/api/v1/audit')) return json({ entries: audit.filter((each) => path.includes(`call=${each.call}`)), next_cursor: null });
    if (!path.startsWith('/api/v1/tokens')) return null;
    if (method === 'POST') {
      bodies.push(JSON.parse(body));
      tokens.push({ id: 'abc123', user: 'ann', label: 'laptop', created_at: new Date().toISOString(), expires_at: new Date(Date.now() + 86_400_000).toISOString(), last_used_at: null, scope: 'read', session: false });
      audit.unshift(entry({ call: 'CreateToken', target: 'user/ann' }));
      return json({ ...tokens[0], secret: 'hai_secret_of_laptop' }, 201);
    }
    if (method === 'DELETE') {
      tokens.length = 0;
      audit.unshift(entry({ seq: 513, call: 'RevokeToken', target: 'token/abc123' }));
      return new Response(null, { status: 204 });
    }
    return json({ tokens, next_cursor: null });
  };
  const page = await site.open('/account');
  await page.getByText('You have no token').waitFor();
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Label, for you to know it by').fill('laptop');
  await page.getByLabel('Holds for').fill('1d');
  await page.getByLabel('It may').selectOption('read');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByText('hai_secret_of_laptop').waitFor();
  expect(bodies).toEqual([{ user: '', label: 'laptop', ttl: '1d', scope: 'read' }]);
  await page.getByRole('button', { name: 'Done' }).click();
  expect(await page.getByText('hai_secret_of_laptop').count()).toBe(0);
  await page.getByRole('cell', { name: '512' }).waitFor();
  await page.getByRole('button', { name: 'revoke laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You have no token').waitFor();
  await page.getByRole('cell', { name: '513' }).waitFor();
});

it('offers a user no scope beyond his role', async () => {
  site.server.user = { user: 'ben', role: 'user' };
  const page = await site.open('/account');
  await page.getByRole('button', { name: 'New token' }).click();
  expect(await page.getByLabel('It may').locator('option').count()).toBe(2);
  expect(await page.getByText('from the audit log').count()).toBe(0);
});

it('asks what a knob would change before it is changed, and shows the change\'s entry', async () => {
  const asked: string[] = [];
  let audit: AuditEntry[] = [];
  site.server.override = ({ path, method }, body) => {
    if (path.startsWith('/api/v1/audit')) return json({ entries: path.includes('call=SetKnob') ? audit : [], next_cursor: null });
    if (path.startsWith('/api/v1/whatif')) {
      asked.push(body);
      return json({ change: 'knob min_quantum is 10m', differences: [{ id: 7, name: 'long', user: 'ben', priority: 'low', effect: 'suspended', text: 'its quantum is over', nodes: [], nodes_before: ['n1'] }], differences_left_out: 0, job: null });
    }
    if (method !== 'PUT' || !path.startsWith('/api/v1/knobs/')) return null;
    asked.push(`${path} ${body}`);
    audit = [entry({})];
    return json({ name: 'min_quantum', value: '10m', config_value: '30m', legal: '', may_change: true, set_by: 'ann', reason: 'x', set_at: null });
  };
  const page = await site.open('/knobs');
  await page.getByLabel('change min_quantum').click();
  await page.getByLabel('Value: 1s..24h').fill('10m');
  await page.getByRole('button', { name: 'What would happen?' }).click();
  await page.getByRole('dialog').getByText('its quantum is over').waitFor();
  await page.getByLabel('Reason (kept with it)').fill('deadline');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('cell', { name: '512' }).waitFor();
  expect(asked).toEqual(['{"knob":{"name":"min_quantum","value":"10m"}}', '/api/v1/knobs/min_quantum {"value":"10m","reason":"deadline"}']);
});

it('shows knobs to an operator, who may not change them', async () => {
  site.server.user = { user: 'olga', role: 'operator' };
  const page = await site.open('/knobs');
  await page.getByText('defrag_moves_per_hour').waitFor();
  expect(await page.getByRole('button', { name: /^change/ }).count()).toBe(0);
});

it('asks what a change of a user would do', async () => {
  const asked: string[] = [];
  site.server.override = ({ path }, body) => {
    if (!path.startsWith('/api/v1/whatif')) return null;
    asked.push(body);
    return json({ change: 'user ben is inactive', differences: [], differences_left_out: 0, job: null });
  };
  const page = await site.open('/quotas');
  await page.getByRole('button', { name: 'change ben', exact: true }).click();
  await page.getByLabel('may use the cluster').uncheck();
  await page.getByRole('button', { name: 'What would happen?' }).click();
  await page.getByText('No other job would fare differently.').waitFor();
  expect(asked).toEqual(['{"user":{"name":"ben","role":"user","active":false,"groups":["research"]}}']);
});

// Each answer is held back until all clicks are done.
const clicks = async (page: Page, button: string): Promise<void> => {
  const box = page.getByRole('dialog').getByRole('button', { name: button, exact: true });
  await box.evaluate((element: HTMLElement) => {
    element.click();
    element.click();
  });
};

it('makes a token once, however fast it is asked for', async () => {
  let made = 0;
  site.server.override = ({ path, method }) => {
    if (!path.startsWith('/api/v1/tokens') || method !== 'POST') return null;
    made += 1;
    return json({ id: `t${made}`, user: 'ann', label: 'laptop', created_at: new Date().toISOString(), expires_at: null, last_used_at: null, scope: 'read', session: false, secret: `secret_${made}` }, 201);
  };
  const page = await site.open('/account');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Label, for you to know it by').fill('laptop');
  await clicks(page, 'Make it');
  await page.getByText('secret_1').waitFor();
  expect(made).toBe(1);
  await page.goto(`${site.server.url}/quotas`);
  await page.getByRole('button', { name: 'change ben', exact: true }).click();
  await clicks(page, 'New token');
  await page.getByText('secret_2').waitFor();
  expect(made).toBe(2);
});

it('saves a knob, a user and a quota once, however fast it is asked for', async () => {
  const asked: string[] = [];
  site.server.override = ({ path, method }) => {
    if (method === 'GET' || !/^\/api\/v1\/(knobs|users|quotas)/.test(path)) return null;
    asked.push(`${method} ${path.replace(/^\/api\/v1\//, '').replace(/[/?].*/, '')}`);
    return json({});
  };
  const page = await site.open('/knobs');
  await page.getByLabel('change min_quantum').click();
  await page.getByLabel('Reason (kept with it)').fill('deadline');
  await clicks(page, 'Save');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goto(`${site.server.url}/quotas`);
  for (const name of ['change ben', 'change quota of ann in high']) {
    await page.getByRole('button', { name, exact: true }).first().click();
    await clicks(page, 'Save');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  expect(asked).toEqual(['PUT knobs', 'PUT users', 'PUT quotas']);
});
