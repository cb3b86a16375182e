import { statSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { answerLog, type MadeLog, searchLogs } from '../src/demo/logs';
import { patience } from './patience';
import { visit } from './visit';

const site = visit();

const began = Date.UTC(2026, 10, 20, 8);
const lineBytes = 128;

// 512 MB have 4,000,000 such lines.
function log(count: number | ((now: number) => number), textOf: (line: number) => string = (line) => `line ${line}`, isOver = true): MadeLog {
  return { lines: (now) => (typeof count === 'number' ? count : count(now)), isOver: () => isOver, lineBytes, timeOf: (line) => began + line, textOf };
}

function serve(logs: { attempt: number; rank: number; log: MadeLog }[]): void {
  site.server.override = ({ path }) => {
    const url = new URL(path, 'http://x');
    if (url.pathname.endsWith('/logs/search')) return Response.json(searchLogs(logs, url.searchParams));
    if (!url.pathname.endsWith('/logs')) return null;
    const [attempt, rank] = [Number(url.searchParams.get('attempt')), Number(url.searchParams.get('rank'))];
    return answerLog(logs.find((each) => each.attempt === attempt && each.rank === rank)!.log, url.searchParams);
  };
}

async function running(query = 'user=ann'): Promise<Job> {
  const answer = await fetch(`${site.server.url}/api/v1/jobs?state=running&limit=200&${query}`);
  const { jobs } = (await answer.json()) as { jobs: Job[] };
  return jobs.sort((a, b) => a.node_count - b.node_count)[0]!; // the smallest, whose page draws least
}

const box = (page: Page) => page.getByRole('log');
// The numbers of the lines that the page holds, and of those in view.
const held = (page: Page): Promise<number[]> =>
  page.locator('.log-line').evaluateAll((all) => all.map((line) => Number(/line (\d+)/.exec(line.textContent)?.[1] ?? -1)));
const inView = (page: Page): Promise<number[]> =>
  box(page).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return [...element.querySelectorAll('.log-line')]
      .filter((line) => line.getBoundingClientRect().top >= top - 1 && line.getBoundingClientRect().bottom <= bottom + 1)
      .map((line) => Number(/line (\d+)/.exec(line.textContent)?.[1] ?? -1));
  });
const areOneByOne = (lines: number[]): boolean => lines.every((line, i) => i === 0 || line === lines[i - 1]! + 1);
const aside = (page: Page) => page.locator('.log-panel header .aside');

// As a hand does: it turns on until it is there, also where there was no more to see yet.
async function turnTo(page: Page, pixels: number, isThere: (first: number) => boolean): Promise<void> {
  const turned = async (): Promise<boolean> => {
    await box(page).hover(); // what is drawn above it may have moved it
    for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, pixels);
    await page.waitForTimeout(150);
    return isThere((await inView(page))[0]!);
  };
  await expect.poll(turned).toBe(true);
}

it('reaches every part of a log of 512 MB, and holds only a part of it', async () => {
  const count = 4_000_000; // made as they are asked for
  serve([{ attempt: 1, rank: 0, log: log(count) }]);
  const page = await site.open(`/jobs/${(await running()).id}`);
  await box(page).getByText(`line ${count - 1}`, { exact: true }).waitFor();
  await aside(page).getByText('complete, 488 MiB').waitFor();
  const began_ = performance.now();
  await page.getByRole('button', { name: 'Beginning' }).click();
  await expect.poll(async () => (await inView(page))[0]).toBe(0);
  console.log(`from the end of 488 MiB to the beginning in ${Math.round(performance.now() - began_)} ms`);
  await page.getByLabel('place in the log').evaluate((range: HTMLInputElement) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(range, '256000000');
    range.dispatchEvent(new Event('input', { bubbles: true }));
    range.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }));
  });
  await expect.poll(async () => Math.abs((await inView(page))[0]! - 2_000_000)).toBeLessThan(400);
  await page.getByLabel(/time to go to/).fill('2026-11-20T08:20:34');
  await page.getByRole('button', { name: 'Go', exact: true }).click();
  await expect.poll(async () => (await inView(page)).includes(1_234_000)).toBe(true);
  await page.getByText('2026-11-20 08:20:34 UTC').waitFor();
  // Onwards by hand, through several parts.
  await box(page).hover();
  await turnTo(page, 3_000, (first) => first > 1_236_000);
  const all = await held(page);
  expect(areOneByOne(all)).toBe(true);
  expect(all.length).toBeLessThan(4_200);
  await box(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(async () => (await inView(page))[0]).toBe(0);
  await page.keyboard.press('End');
  await expect.poll(async () => (await inView(page)).at(-1)).toBe(count - 1);
  // Back by hand.
  await turnTo(page, -2_000, (first) => first < count - 1_500);
  expect(areOneByOne(await held(page))).toBe(true);
});

// A log that grows by 10 lines each 100 ms, and by what a test adds at once. So it is below 1 MiB for a minute, and each KiB more is seen.
let added = 0;
const growing = (): MadeLog => {
  const from = Date.now();
  added = 0;
  return log((now) => 2_000 + added + Math.floor((now - from) / 10), undefined, false);
};

async function stays(page: Page): Promise<void> {
  await page.waitForTimeout(200); // for what was on its way
  const before = await inView(page);
  for (let time = 0; time < 4; time += 1) {
    const size = await aside(page).innerText();
    await expect.poll(() => aside(page).innerText()).not.toBe(size);
  }
  expect((await inView(page))[0]).toBe(before[0]);
}

it('follows, and never moves what somebody reads', async () => {
  serve([{ attempt: 1, rank: 0, log: growing() }]);
  const page = await site.open(`/jobs/${(await running()).id}`);
  const follow = page.getByRole('button', { name: 'Follow' });
  const isFollowing = () => expect.poll(async () => await follow.getAttribute('aria-pressed'));
  const newest = async (): Promise<number> => (await inView(page)).at(-1)!;
  const moves = async (): Promise<void> => {
    const before = await newest();
    await expect.poll(newest).toBeGreaterThan(before);
  };
  await box(page).getByText(/line \d+/).first().waitFor();
  await moves();
  await box(page).focus();
  await page.keyboard.press('PageUp');
  await isFollowing().toBe('false');
  await stays(page);
  await page.keyboard.press('End');
  await isFollowing().toBe('true');
  await moves();
  // The thumb of the scrollbar, or a finger, only moves the box.
  await box(page).evaluate((element) => (element.scrollTop -= 400));
  await isFollowing().toBe('false');
  await stays(page);
  await follow.click();
  await moves();
  await box(page).hover();
  await page.mouse.wheel(0, -60);
  await isFollowing().toBe('false');
  await stays(page);
  // Back at the end by hand.
  const turned = async (): Promise<string | null> => {
    await box(page).hover();
    await page.mouse.wheel(0, 900_000);
    return follow.getAttribute('aria-pressed');
  };
  await expect.poll(turned).toBe('true');
  await moves();
  // Something is selected.
  const line = page.locator('.log-line').last();
  await line.evaluate((element) => document.getSelection()!.selectAllChildren(element));
  await isFollowing().toBe('false');
  await stays(page);
  await page.evaluate(() => document.getSelection()!.removeAllRanges());
  await follow.click();
  await moves();
  expect(areOneByOne(await held(page))).toBe(true);
});

it('goes on by itself, without a hole and nothing twice, when the server was killed', async () => {
  serve([{ attempt: 1, rank: 0, log: growing() }]);
  const page = await site.open(`/jobs/${(await running()).id}`);
  await aside(page).getByText('live').waitFor();
  await site.server.kill();
  await aside(page).getByText('connection lost').waitFor();
  added += 1_000;
  await site.server.start();
  await aside(page).getByText('live').waitFor();
  const before = (await inView(page)).at(-1)!;
  await expect.poll(async () => (await inView(page)).at(-1)).toBeGreaterThan(before);
  const all = await held(page);
  expect(areOneByOne(all)).toBe(true);
  expect(all.length).toBeGreaterThan(1_200);
});

const needle = (lines: number[]) => (line: number) => (lines.includes(line) ? `line ${line} the Needle is here` : `line ${line}`);

it('searches all ranks and attempts on the server, and shows what it found where it stands', async () => {
  const job = await running();
  const count = 200_000;
  serve([
    { attempt: 1, rank: 0, log: log(count, needle([199_999])) },
    { attempt: 1, rank: 1, log: log(count, needle([3, 150_000])) },
    { attempt: 1, rank: 2, log: log(count) },
  ]);
  const attempt = { attempt: 1, ranks: [0, 1, 2].map((rank) => ({ rank, node: `fire-000${rank}`, gpus: [0], phase: 'running', cause: '', exit_code: null, message: '' })) };
  const world = site.server.override;
  site.server.override = (asked, body) =>
    asked.path.endsWith('/attempts')
      ? Response.json({ attempts: [{ ...attempt, job_id: job.id, state: 'running', placed_at: new Date(began).toISOString(), running_at: new Date(began).toISOString(), ended_at: null, end_reason: null, exit_code: null }] })
      : world(asked, body);
  const page = await site.open(`/jobs/${job.id}`);
  const search = page.getByLabel('search the log');
  await search.fill('needle');
  const began_ = performance.now();
  await search.press('Enter');
  await page.getByText('3 lines in 3 logs, 73.2 MiB').waitFor();
  console.log(`600,000 lines of 3 ranks searched in ${Math.round(performance.now() - began_)} ms`);
  await search.press('Enter');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await page.locator('.log-line[data-hit]', { hasText: 'line 3 the Needle' }).waitFor();
  await expect.poll(() => page.getByLabel('rank', { exact: true }).inputValue()).toBe('1');
  expect(await page.locator('.log-line mark').first().innerText()).toBe('Needle');
  await search.press('Enter');
  await page.locator('.log-line[data-hit]', { hasText: 'line 150000 the Needle' }).waitFor();
  await expect.poll(async () => (await inView(page)).includes(150_000)).toBe(true);
  await page.getByRole('list', { name: 'lines found' }).getByRole('button').last().click();
  await page.locator('.log-line[data-hit]', { hasText: 'line 199999 the Needle' }).waitFor();
  // The address leads to the line.
  const address = page.url();
  await page.goto('about:blank');
  await page.goto(address);
  await page.locator('.log-line[data-hit]', { hasText: 'line 199999 the Needle' }).waitFor();
  await search.fill('not there');
  await search.press('Enter');
  await page.getByText('no line in 3 logs').waitFor();
});

it('lets a search be left, and goes on with it after a restart of the server', async () => {
  serve([{ attempt: 1, rank: 0, log: log(30_000_000, needle([29_999_999])) }]);
  const page = await site.open(`/jobs/${(await running()).id}`);
  const search = page.getByLabel('search the log');
  await search.fill('needle');
  await search.press('Enter');
  await page.getByText(/^searching: no line so far/).waitFor();
  await site.server.kill();
  await page.getByText(/the server is away, going on when it is back/).waitFor();
  await site.server.start();
  await page.getByText(/^searching: no line so far/).waitFor();
  await page.getByRole('button', { name: 'Stop searching' }).click();
  await page.getByText(/^stopped: no line in 0 of 1 log/).waitFor();
  await page.waitForTimeout(300);
  const asked = site.server.count('GET', '/logs/search');
  await page.waitForTimeout(700);
  expect(site.server.count('GET', '/logs/search')).toBe(asked);
});

it('shows colours, what was drawn over itself, and long lines as they are wanted', async () => {
  const texts = [
    '\u001b[31;1mline 0 failed\u001b[0m and on',
    'line 1 |  1%|\rline 1 | 50%|\rline 1 |100%|',
    `line 2 ${'long '.repeat(20)}`,
    // A traceback that is coloured as a whole, as many loggers write it.
    '\u001b[31mline 3 Traceback',
    'line 4 in train',
    ...Array.from({ length: 120 }, (_, i) => `line ${5 + i} deeper`), // into the next block of lines
    'line 125 the last\u001b[0m',
    'line 126 plain',
  ];
  serve([{ attempt: 1, rank: 0, log: log(texts.length, (line) => texts[line]!) }]);
  const page = await site.open(`/jobs/${(await running()).id}`, { width: 500 });
  await box(page).getByText('line 1 |100%|').waitFor();
  expect(await box(page).innerText()).not.toContain('50%');
  const failed = box(page).getByText('line 0 failed', { exact: true });
  const colour = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(--failed)';
    return getComputedStyle(probe).color;
  });
  const colourOf = (text: string): Promise<string> => box(page).getByText(text, { exact: true }).evaluate((span) => getComputedStyle(span).color);
  expect(await failed.evaluate((span) => getComputedStyle(span).color)).toBe(colour);
  for (const text of ['line 3 Traceback', 'line 4 in train', 'line 110 deeper', 'line 125 the last']) expect(await colourOf(text)).toBe(colour);
  expect(await colourOf('line 126 plain')).not.toBe(colour);
  const overflows = (): Promise<boolean> => box(page).evaluate((element) => element.scrollWidth > element.clientWidth);
  expect(await overflows()).toBe(true);
  await page.getByRole('button', { name: 'Wrap' }).click();
  expect(await overflows()).toBe(false);
});

it('shows all times in one zone, which is named and can be UTC', async () => {
  serve([{ attempt: 1, rank: 0, log: log(10) }]);
  const job = await running();
  const context = await site.browser.newContext({ viewport: { width: 1366, height: 900 }, timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
  const page = await context.newPage();
  await page.goto(`${site.server.url}/jobs/${job.id}`);
  await box(page).getByText('17:00:00.003').waitFor();
  await page.getByText('2026-11-20 17:00:00 Asia/Tokyo').waitFor();
  await page.getByRole('button', { name: 'times are of Asia/Tokyo; show them of UTC' }).click();
  await box(page).getByText('08:00:00.003').waitFor();
  const submitted = page.locator('dt', { hasText: 'submitted' }).locator('+ dd');
  expect(await submitted.innerText()).toContain(job.submitted_at.slice(11, 19));
  await page.reload();
  await page.getByRole('button', { name: 'times are of UTC; show them of Asia/Tokyo' }).waitFor();
  await page.goto(`${site.server.url}/nodes/fire-0007`);
  await page.getByRole('button', { name: 'Drain', exact: true }).click();
  await page.getByRole('button', { name: 'in 1 h' }).click();
  const wanted = new Date(Date.now() + 3_600_000).toISOString().slice(0, 15);
  await expect.poll(() => page.getByLabel('Deadline').inputValue()).toContain(wanted);
});

it('downloads the whole log', async () => {
  const count = 200_000;
  serve([{ attempt: 1, rank: 0, log: log(count) }]);
  const job = await running();
  const page = await site.open(`/jobs/${job.id}`);
  const downloading = page.waitForEvent('download', { timeout: 30_000 * patience });
  await page.getByRole('link', { name: 'Download', exact: true }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toBe(`job-${job.id}-attempt-1-rank-0.log`);
  expect(statSync(await file.path()).size).toBe(count * lineBytes);
});
