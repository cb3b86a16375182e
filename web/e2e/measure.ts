// How long the jobs page takes at 100,000 jobs, from the demo's world: `npm run measure -- URL [JOBS]`.
import { launch, openPage } from './browser';

const [url = 'http://127.0.0.1:4173', jobs = '100000'] = process.argv.slice(2);
const browser = await launch();
const page = await openPage(browser, `${url}/jobs?demo=1&jobs=${jobs}`, { width: 1366, height: 768, scheme: 'light' });
page.setDefaultTimeout(120_000);
await page.getByRole('button', { name: 'Load all' }).click();
await page.getByText(/^[\d,]+ jobs$/).waitFor();
console.log(`loaded: ${await page.getByText(/^[\d,]+ jobs$/).innerText()}`);

// From the input to the frame after the rows have changed: what a person waits for.
async function time(what: string, act: string): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < 7; i += 1) {
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
  times.sort((a, b) => a - b);
  console.log(`${what}: median ${times[3]!.toFixed(0)} ms, worst ${times[6]!.toFixed(0)} ms`);
}

const header = (title: string): string =>
  `[...document.querySelectorAll('.grid-head button')].find((b) => b.textContent.startsWith('${title}')).click()`;
await time('scroll a third of the list', `const b = document.querySelector('.grid-body'); b.scrollTop = (b.scrollTop + b.scrollHeight / 3) % b.scrollHeight`);
await time('sort by nodes', header('nodes'));
await time('sort by name', header('name'));
await time(
  'type into the filter',
  `const i = document.querySelector('[data-search]'); Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(i, i.value === '' ? 'llm' : ''); i.dispatchEvent(new Event('input', { bubbles: true }))`,
);
await time('select a row', `document.querySelector('.grid-row input').click()`);

// Frames while the wheel turns for two seconds.
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
console.log(`wheel: ${gaps.length} frames in 2 s, p95 gap ${gaps[Math.floor(gaps.length * 0.95)]!.toFixed(0)} ms, worst ${gaps.at(-1)!.toFixed(0)} ms`);
await browser.close();
