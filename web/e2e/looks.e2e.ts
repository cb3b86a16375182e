import { afterAll, beforeAll, expect, it } from 'vitest';
import { faultsOf } from './axe';
import { signIn } from './browser';
import { goTo, isAll, patience } from './patience';
import { base, look, open, openPage, stopAll, submit, tell } from './story';

const story = tell();
const firstLoadBytesMax = 250_000;

let paths: string[] = [];
beforeAll(async () => {
  await stopAll();
  const [running, waiting] = [await submit({ nodes: 4 }), await submit({ nodes: 4 })];
  paths = [
    '/', '/now', '/map', '/map?color=health', '/jobs', '/jobs?by=user', `/jobs/${running.id}`, `/jobs/${waiting.id}`,
    '/nodes', '/nodes/node-1', '/incidents', '/quotas', '/submit', '/nothing',
  ];
});
afterAll(stopAll);

// Bytes of everything that a browser without a cache fetches for the overview, headers and all.
async function firstLoad(): Promise<{ bytes: number; files: string[] }> {
  const page = await openPage(story.browser, 'about:blank', { ...look, token: undefined });
  await signIn(page.context(), base, look.token ?? '');
  const network = await page.context().newCDPSession(page);
  const urls = new Map<string, string>();
  const files: string[] = [];
  let bytes = 0;
  network.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength;
    files.push(`${Math.round(encodedDataLength)} ${urls.get(requestId)?.replace(base, '')}`);
  });
  await network.send('Network.enable');
  await page.goto(base);
  await page.locator('.chart, .empty').first().waitFor();
  await page.locator('.live').getByText('live', { exact: true }).waitFor();
  await page.waitForLoadState('load');
  await page.evaluate(() => document.fonts.ready);
  await page.context().close();
  return { bytes, files };
}

// A development preview compresses nothing; hai-server does.
it.skipIf(process.env.HAI_WEB !== 'server')('weighs less than 250 KB at first sight', async () => {
  const { bytes, files } = await firstLoad();
  console.log(`first load: ${bytes} bytes in ${files.length} answers\n${files.sort((a, b) => Number.parseInt(b) - Number.parseInt(a)).join('\n')}`);
  expect(files.some((file) => file.includes('/assets/'))).toBe(true);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(firstLoadBytesMax);
});

// Only contrast depends on the scheme of colours, which pages change where they are.
it('can be read and operated by everybody, on every page and in both schemes of colours', { timeout: 60_000 * patience }, async () => {
  const page = await openPage(story.browser, base, look);
  const console_: string[] = [];
  page.on('console', (line) => ['error', 'warning'].includes(line.type()) && console_.push(`${page.url()}: ${line.text()}`));
  await page.goto(base);
  const faults: Record<string, string[]> = {};
  for (const path of paths) {
    await goTo(page, path);
    if (path !== '/now') await page.locator('.live').getByText('live', { exact: true }).waitFor();
    const found = await faultsOf(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    const inDark = await faultsOf(page, ...(isAll ? [] : ['color-contrast']));
    await page.emulateMedia({ colorScheme: 'light' });
    if (found.length + inDark.length > 0) faults[path] = [...found, ...inDark.map((each) => `in dark colours: ${each}`)];
  }
  expect(faults).toEqual({});
  expect(console_).toEqual([]);
  await page.context().close();
});

it('can be read and operated in its dialogs', async () => {
  const { page } = story;
  await open(page, '/nodes/node-1');
  await page.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Deadline').waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
});

it('shows where the focus is, at each stop of the Tab key', async () => {
  const { page } = story;
  for (const path of ['/', '/jobs', '/map']) {
    await open(page, path);
    await page.locator('.live').getByText('live', { exact: true }).waitFor();
    for (let stop = 0; stop < 16; stop += 1) {
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(() => {
        const at = document.activeElement;
        if (!at || at === document.body) return 'the page';
        const marked = [at, at.parentElement!].some((each) => {
          const style = getComputedStyle(each);
          return style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1;
        });
        return marked ? 'marked' : at.outerHTML.slice(0, 120);
      });
      expect(['marked', 'the page'], `${path}, stop ${stop}: ${seen}`).toContain(seen);
    }
  }
});

it('shows a large cluster in its demo mode, and asks no server for it', async () => {
  const page = await openPage(story.browser, 'about:blank', { ...look, token: '' });
  const asked: string[] = [];
  const said: string[] = [];
  page.on('request', (request) => request.url().includes('/api/') && asked.push(request.url()));
  page.on('console', (line) => ['error', 'warning'].includes(line.type()) && said.push(line.text()));
  await page.goto(`${base}/?demo=1`);
  for (const [path, sight] of [
    ['/', 'GPUs work'], ['/map', '1,250 nodes, 10,000 GPUs'], ['/jobs?state=all', 'where, or why'], ['/nodes/fire-0007', 'Jobs before'],
    ['/nodes?scheduling=closed', '9 nodes'], ['/incidents', 'surely ended'], ['/quotas', 'every group'], ['/submit', 'Job file'],
  ]) {
    await goTo(page, path!);
    await page.getByText(sight!).first().waitFor();
  }
  expect(asked).toEqual([]);
  expect(said).toEqual([]);
  await page.context().close();
});

it('has thrown nothing on any page', () => expect(story.errors).toEqual([]));
