import { expect, it } from 'vitest';
import type { Incident } from '../src/api/types';
import { faultsOf } from './axe';
import { withMoment } from './clock';
import { isAll } from './patience';
import { visit } from './visit';

const site = visit();
const wide = [[360, 740], [683, 384], [1366, 768], [1920, 1080], [2560, 1440]] as const;
const card = (about: string) => `.now li:has-text("${about}")`;

it('says what is wrong, since when, whom it hurts, what hai does, and what a person must do', async () => {
  const page = await site.open('/now');
  await page.getByText('things are wrong').or(page.getByText('thing is wrong')).waitFor();
  await page.locator(card('mass loss')).getByText('GPUs missing').waitFor(); // once the nodes are known, too
  const loss = await page.locator(card('mass loss')).innerText();
  expect(loss).toMatch(withMoment(/since\s+MOMENT, \d+m/));
  expect(loss).toMatch(/hurts\s+no running job; 24 GPUs missing/);
  expect(loss).toContain('Runs their jobs elsewhere');
  expect(loss).toContain('hai node remove NODE');
  await page.locator('.now-where').getByText('UTC', { exact: true }).waitFor(); // what its times are of
});

it('names the users of the jobs that an incident hurts', async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?state=running&user=ben&limit=1`)).json()) as { jobs: { id: number }[] };
  const hang: Incident = { id: 9, kind: 'hang', subject: `job/${jobs[0]!.id}`, summary: 'it hangs', opened_at: new Date().toISOString(), closed_at: null, close_reason: null, nodes: [], notes: [] };
  site.server.override = ({ path }) => (path === '/api/v1/incidents' ? Response.json({ incidents: [hang], next_cursor: null }) : null);
  const page = await site.open('/wall');
  await page.locator(card('hang')).getByText('1 job of ben').waitFor();
  await page.locator(card('hang')).getByText('Nothing to do.').waitFor();
});

it('says that nothing is wrong only while the server says so, and then that it is unknown', async () => {
  site.server.override = ({ path }) => {
    if (path === '/api/v1/incidents') return Response.json({ incidents: [], next_cursor: null });
    return path.startsWith('/api/v1/nodes?') ? Response.json({ nodes: [], next_cursor: null }) : null;
  };
  const page = await site.open('/now');
  const title = page.getByRole('heading', { level: 1 });
  await title.getByText('Nothing is wrong').waitFor();
  await site.server.kill(); // outage.front.ts freezes it, which takes ten seconds to be noticed
  await title.getByText('Unknown').waitFor();
  await page.getByText('What is wrong is not known').waitFor();
  expect(await page.getByText('Nothing is wrong', { exact: true }).count()).toBe(0);
  await site.server.start();
  await title.getByText('Nothing is wrong').waitFor();
});

it('is reached from the navigation, and leads back', async () => {
  const page = await site.open('/');
  await page.getByRole('navigation', { name: 'pages' }).getByRole('link', { name: 'Now' }).click();
  await page.getByRole('heading', { level: 1 }).getByText('wrong').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('GPUs work').waitFor();
});

// A phone, a laptop at 200 %, laptops, walls. Each size is held against axe in one scheme of colours, and each scheme at
// several sizes.
it.each(['light', 'dark'] as const)('can be read by everybody in %s colours on each screen, and scrolls no way sideways', async (colorScheme) => {
  const page = await site.open('/now');
  await page.emulateMedia({ colorScheme });
  await page.getByRole('heading', { level: 1 }).getByText('wrong').waitFor();
  for (const [at, [width, height]] of wide.entries()) {
    await page.setViewportSize({ width, height });
    if (isAll || (at % 2 === 0) === (colorScheme === 'light')) expect(await faultsOf(page)).toEqual([]);
    const look = await page.evaluate(() => {
      const root = document.documentElement;
      const sizes = [...document.querySelectorAll('.now *')].filter((each) => each.childNodes.length > 0).map((each) => Number.parseFloat(getComputedStyle(each).fontSize));
      return { over: root.scrollWidth - root.clientWidth, tall: root.scrollHeight - root.clientHeight, least: Math.min(...sizes) };
    });
    expect(look.over, `at ${width} × ${height}`).toBe(0);
    expect(look.least).toBeGreaterThanOrEqual(16);
    // Across a room: nothing to scroll, and no letter below a 55th of the screen's height.
    if (width >= 1920) {
      expect(look.tall).toBe(0);
      expect(look.least).toBeGreaterThan(height / 55);
    }
    if (process.env.HAI_PICTURES) await page.screenshot({ path: `${process.env.HAI_PICTURES}/now-${width}-${colorScheme}.png` });
  }
});

it('fits a wall with many things wrong at once, what needs a person first', async () => {
  const incidents = ['mass_fault', 'name_taken', 'store_went_back', 'hang', 'bisection', 'agent_not_believed'].map((kind, i): Incident => ({
    id: i + 20, kind, subject: 'cluster', summary: 'gpu_xid of 24 nodes of leaf A/leaf-3 at once (fire-[0040-0063]): what they share is suspected; they take no new jobs, and those they have go on',
    opened_at: new Date(Date.now() - 3_600_000).toISOString(), closed_at: null, close_reason: null, nodes: [], notes: [],
  }));
  site.server.override = ({ path }) => (path === '/api/v1/incidents' ? Response.json({ incidents, next_cursor: null }) : null);
  for (const [width, height] of [[1920, 1080], [2560, 1440]] as const) {
    const page = await site.open('/wall', { width, height });
    await page.locator('.now li').nth(3).waitFor();
    await page.getByText('and 3 more, 1 of which needs a person').waitFor();
    expect(await page.locator('.now li:not([data-needs])').count()).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollHeight - document.documentElement.clientHeight)).toBe(0);
    if (process.env.HAI_PICTURES) await page.screenshot({ path: `${process.env.HAI_PICTURES}/now-many-${width}.png` });
  }
});
