// Pictures of each page in light and dark, from the demo's world: `npm run shots -- URL FOLDER [page…]`. Without a
// folder those of the documentation are taken anew, and no others.
import { existsSync, mkdirSync } from 'node:fs';
import { launch, type Look, openPage } from './browser';

const docs = '../docs/img';
const [url = 'http://127.0.0.1:4173', folder = docs, ...only] = process.argv.slice(2);

const pages: [name: string, path: string, ready: string][] = [
  ['overview', '/', '.chart canvas'],
  ['now', '/now', '.now li'],
  ['map', '/map', 'canvas'],
  ['map-utilisation', '/map?color=utilisation', 'canvas'],
  ['jobs', '/jobs', '.grid-row'],
  ['jobs-grouped', '/jobs?state=running&by=user&sort=node_count', '.grid-row'],
  ['job-running', 'RUNNING', '.log-line'],
  ['job-waiting', 'WAITING', '.note'],
  ['nodes', '/nodes', '.grid-row'],
  ['nodes-closed', '/nodes?scheduling=closed', '.grid-row'],
  ['node', '/nodes/fire-0007', '.plain'],
  ['node-broken', 'BROKEN', '.plain'],
  ['queue', '/queue', '.queue-table tbody tr'],
  ['mine', '/mine', '.mine-job'],
  ['history', '/history?days=90&compare=1', '.line-chart svg'],
  ['incidents', '/incidents', '.failure, .panel'],
  ['quotas', '/quotas', '.plain td'],
  ['submit', '/submit', '.form-grid'],
];

// On a wall only what hangs there.
const looks: [suffix: string, look: Look, pages: string[] | null][] = [
  ['light', { width: 1366, height: 768, scheme: 'light' }, null],
  ['dark', { width: 1366, height: 768, scheme: 'dark' }, null],
  ['wall-dark', { width: 2560, height: 1440, scheme: 'dark' }, ['overview', 'now', 'map']],
];

const browser = await launch();
mkdirSync(folder, { recursive: true });
for (const [suffix, look, wanted] of looks) {
  const page = await openPage(browser, `${url}/?demo=1`, look);
  page.on('pageerror', (error) => console.error(`${suffix}: ${error.message}`));
  await page.waitForSelector('.chart canvas');
  for (const [name, path, ready] of pages) {
    if (only.length > 0 && !only.includes(name)) continue;
    if (wanted && !wanted.includes(name)) continue;
    if (folder === docs && !existsSync(`${folder}/${name}-${suffix}.png`)) continue;
    if (path === 'RUNNING' || path === 'WAITING') {
      await go(page, path === 'RUNNING' ? '/jobs?state=running&group=training&sort=suspend_count' : '/jobs?state=queued&sort=node_count');
      await page.waitForSelector('.grid-row a');
      await page.locator('.grid-row a').nth(path === 'RUNNING' ? 1 : 2).click();
    } else if (path === 'BROKEN') {
      await go(page, '/nodes?scheduling=closed&q=fallen');
      await page.locator('.grid-row a').first().click();
    } else await go(page, path);
    await page.waitForSelector(ready);
    // What would happen stands below the form.
    await page.setViewportSize({ width: look.width, height: name === 'submit' ? Math.max(look.height, 1000) : look.height });
    if (name === 'submit') await fillSubmit(page);
    await (name === 'map' ? page.mouse.move(330, 330) : page.mouse.move(2, look.height - 2));
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: `${folder}/${name}-${suffix}.png` });
  }
  await page.context().close();
}
await browser.close();

type Page = Awaited<ReturnType<typeof openPage>>;

// Within the page: a new load would start the demo's world again.
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, path);
  await page.waitForTimeout(600);
}

async function fillSubmit(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('llm-7b-pretrain');
  await page.getByLabel('Workspace').fill('/data/ann/llm');
  await page.getByLabel('Entrypoint').fill('train.py');
  await page.getByLabel('Parameters').fill('--config 7b.yaml');
  await page.getByLabel('Nodes', { exact: true }).fill('16');
  await page.waitForSelector('text=even odds');
}
