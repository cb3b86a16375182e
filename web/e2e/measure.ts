// How long the jobs page takes at 100,000 jobs: `npm run measure -- URL [JOBS]` in the demo's world, or
// `npm run measure -- URL --token TOKEN` of a server that has so many.
import { launch, openPage } from './browser';

const [url = 'http://127.0.0.1:4173', second = '100000', token = ''] = process.argv.slice(2);
const isReal = second === '--token';
const rounds = 9;
const address = isReal ? `${url}/jobs` : `${url}/jobs?demo=1&jobs=${second}`;
const browser = await launch();
const page = await openPage(browser, address, { width: 1366, height: 768, scheme: 'light', token });
page.setDefaultTimeout(180_000);
await page.locator('.grid-row').first().waitFor();

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
const report = (what: string, times: readonly number[]): void =>
  console.log(`${what}: first ${times[0]!.toFixed(0)} ms, median ${median(times).toFixed(0)} ms, worst ${Math.max(...times).toFixed(0)} ms of ${times.length}`);

// From the input to the frame after the rows have changed: what a person waits for.
async function time(what: string, act: string): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    times.push(
      await page.evaluate(async (source) => {
        const shown = (): string =>
          [...document.querySelectorAll('.grid-row')].map((row) => `${row.getAttribute('aria-rowindex')} ${row.querySelector('.mono')?.textContent} ${row.hasAttribute('data-selected')}`).join();
        const before = shown();
        const start = performance.now();
        (new Function(source))();
        do await new Promise((resolve) => requestAnimationFrame(resolve));
        while (shown() === before && performance.now() - start < 3000);
        return performance.now() - start;
      }, act),
    );
    await page.waitForTimeout(700);
  }
  report(what, times);
}

// From a key in a text field until the field shows it: what makes typing feel slow.
async function timeKeys(): Promise<void> {
  const field = page.locator('[data-search]').first();
  await field.click();
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(window, { keyTimes: times });
    addEventListener('keydown', ({ timeStamp }) => requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - timeStamp))), { capture: true });
  });
  for (const key of 'llm-7b-pretrain') {
    await page.keyboard.press(key);
    await page.waitForTimeout(150);
  }
  report('a key typed into the filter is drawn', await page.evaluate(() => (window as unknown as { keyTimes: number[] }).keyTimes));
  await field.fill('');
  await page.waitForTimeout(1_500);
}

async function wheel(): Promise<void> {
  await page.mouse.move(600, 500);
  const frames = page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const gaps: number[] = [];
        let last = performance.now();
        const end = last + 2000;
        const tick = (now: number): void => {
          gaps.push(now - last);
          last = now;
          if (now < end) requestAnimationFrame(tick);
          else resolve(gaps);
        };
        requestAnimationFrame(tick);
      }),
  );
  for (let i = 0; i < 60; i += 1) await page.mouse.wheel(0, 400);
  const gaps = (await frames).sort((a, b) => a - b);
  console.log(`wheel: ${gaps.length} frames in 2 s, p50 gap ${median(gaps).toFixed(0)} ms, p95 ${gaps[Math.floor(gaps.length * 0.95)]!.toFixed(0)} ms, worst ${gaps.at(-1)!.toFixed(0)} ms`);
}

async function all(): Promise<void> {
  const header = (title: string): string =>
    `[...document.querySelectorAll('.grid-head button')].find((b) => b.textContent.startsWith('${title}')).click()`;
  await time('scroll a third of the list', `const b = document.querySelector('.grid-body'); b.scrollTop = (b.scrollTop + b.scrollHeight / 3) % b.scrollHeight`);
  await time('sort by nodes', header('nodes'));
  await time('sort by name', header('name'));
  const text = isReal ? '77' : 'llm';
  await time(
    'filter, until the rows have changed',
    `const i = document.querySelector('[data-search]'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(i, i.value === '' ? '${text}' : ''); i.dispatchEvent(new Event('input', { bubbles: true }))`,
  );
  await time('select a row', `document.querySelector('.grid-row input').click()`);
  await page.getByRole('button', { name: 'Clear' }).click();
  await timeKeys();
  await wheel();
}

console.log('the first pages loaded, the server sorts and filters');
await all();
await page.getByRole('button', { name: 'Load all' }).click();
const loading = performance.now();
await page.getByText(/^[\d,]+ jobs$/).waitFor();
console.log(`all loaded: ${await page.getByText(/^[\d,]+ jobs$/).innerText()}, in ${((performance.now() - loading) / 1000).toFixed(1)} s`);
await all();
await browser.close();
