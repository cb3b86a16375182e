import type { Page } from 'playwright-core';
import { afterAll, expect, inject, it } from 'vitest';
import { patience } from './patience';
import { api, base, look, open, openPage, stopAll, submit, tell } from './story';

const story = tell();
afterAll(stopAll);

const screen = (page: Page) => page.getByTestId('terminal');
const shows = (page: Page, text: string | RegExp) => screen(page).locator('.xterm-rows > div').filter({ hasText: text }).first().waitFor();
const says = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).first().waitFor();

async function type(page: Page, line: string): Promise<void> {
  await screen(page).click();
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}

it('opens a terminal in the rank that was chosen, as wide as the page', async () => {
  const { page } = story;
  const job = await submit({ nodes: 2 });
  await open(page, `/jobs/${job.id}`);
  await page.getByRole('link', { name: 'Shell' }).click();
  await says(page, /^on node-/);
  await type(page, 'echo rank $((HAI_NODE_RANK + 0)) of $(basename $PWD; stty size | tr " " x)');
  await shows(page, /rank 0 of .*\d+x\d+/);
  const first = await screen(page).innerText();
  // Keys and the new size come by ways of their own: what it was is asked before it changes.
  await type(page, 'before=$(stty size); echo no""ted');
  await shows(page, /^noted/);
  await page.setViewportSize({ width: 700, height: 500 });
  await type(page, 'until [ "$(stty size)" != "$before" ]; do sleep 0.1; done; clear; echo now $(stty size)');
  await shows(page, /now \d+ \d+/);
  expect(Number(/now \d+ (\d+)/.exec(await screen(page).innerText())![1])).toBeLessThan(Number(/\d+x(\d+)/.exec(first)![1]));
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.getByLabel('rank').selectOption('1');
  await says(page, /^on node-/);
  await type(page, 'echo rank $((HAI_NODE_RANK + 0))');
  await shows(page, 'rank 1');
});

it('loses nothing of much, says how it ended and opens again', async () => {
  const { page } = story;
  await type(page, 'seq 300000; echo end of $((299000 + 1000))');
  await shows(page, 'end of 300000');
  await shows(page, /^300000/);
  await type(page, 'stty -icanon -echo; echo re""ady; head -c 200000 | wc -c; stty sane');
  await shows(page, /^ready/);
  await page.evaluate(() => {
    const pasted = new DataTransfer();
    pasted.setData('text/plain', 'x'.repeat(200_000));
    document.querySelector('.xterm-helper-textarea')!.dispatchEvent(new ClipboardEvent('paste', { clipboardData: pasted, bubbles: true }));
  });
  await shows(page, /^200000/);
  await type(page, 'exit 3');
  await says(page, 'ended, exit code 3');
  await page.getByRole('button', { name: 'Open again' }).click();
  await says(page, /^on node-/);
  await type(page, 'cat');
  await type(page, 'äöü €');
  await shows(page, 'äöü €');
  await page.keyboard.press('Control+c');
});

it('says so when the job ends under it, and when it does not run', async () => {
  const { page } = story;
  await stopAll();
  await says(page, /ended|rank/);
  await page.getByRole('button', { name: 'Open again' }).click();
  await says(page, 'only into one that runs there is a way');
});

// A page of somebody else has the cookie, but neither the csrf nor an origin that is ours.
it('lets no other page in by the cookie', async () => {
  const job = await submit({ nodes: 1 });
  const page = await openPage(story.browser, base, look);
  await page.getByText('GPUs work').waitFor();
  const told = (csrf: string): Promise<string> =>
    page.evaluate(
      ([id, shown]) =>
        new Promise<string>((done) => {
          const socket = new WebSocket(`${location.protocol.replace('http', 'ws')}//${location.host}/api/v1/jobs/${id}/shell`);
          socket.onopen = () => socket.send(JSON.stringify({ open: { rank: 0, rows: 24, columns: 80, csrf: shown } }));
          socket.onmessage = ({ data }) => done(String(data));
        }),
      [String(job.id), csrf] as const,
    );
  expect(await told('')).toContain('permission_denied');
  expect(await told('0'.repeat(64))).toContain('permission_denied');
  const refused = async (): Promise<number> => {
    const audit = await api<{ entries: { call: string; target: string; result: string }[] }>('GET', '/audit');
    return audit.entries.filter((each) => each.call === 'Shell' && each.target === `job/${job.id}` && each.result === 'permission_denied').length;
  };
  await expect.poll(refused, { timeout: 5_000 * patience }).toBe(2); // the answer does not wait for its entry
  const plain = await fetch(`${base}/api/v1/jobs/${job.id}/shell`, { headers: { Authorization: `Bearer ${inject('token')}` } });
  expect(await plain.text()).toContain('takes a WebSocket');
  await page.context().close();
}, 60_000 * patience);
