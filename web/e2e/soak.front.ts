import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { isFirefox } from './browser';
import { goTo, isAll } from './patience';
import { visit } from './visit';

const site = visit();

// More than a busy cluster tells, so that a leak shows soon.
const eventsPerSecond = isAll ? 700 : 1_400;
const burstMs = 100;
const warmSeconds = isAll ? 15 : 8; // until the rings of events are full
const rounds = isAll ? 20 : 10;
const roundSeconds = isAll ? 3 : 2;
// `HAI_SOAK_MINUTES=30 npm run front -- soak`: a page that nobody touches, and as many events as it takes, at most
// HAI_SOAK_RATE a second.
const soakMinutes = Number(process.env.HAI_SOAK_MINUTES ?? 0);
const soakRate = Number(process.env.HAI_SOAK_RATE ?? 20_000);

// Jobs that come, run and end, one after the other, as a busy cluster tells them.
function* life(sample: Job): Generator<{ kind: string; subject: string; body: object }> {
  for (let id = 1_000_000; ; id += 1) {
    newest = id;
    const [subject, body] = [`job/${id}`, { job: id, user: sample.user, attempt: 1 }];
    yield { kind: 'job_submitted', subject, body };
    yield { kind: 'attempt_placed', subject, body };
    yield { kind: 'attempt_running', subject, body };
    yield { kind: 'attempt_ended', subject, body: { ...body, outcome: 'succeeded', reason: 'done', lost_gpu_seconds: 0 } };
    yield { kind: 'job_finished', subject, body: { ...body, state: 'succeeded', exit_code: 0, reason: 'done' } };
  }
}

let newest = 1_000_000;

function newestJobs(sample: Job): Response {
  const jobs = Array.from({ length: 1_000 }, (_, i) => ({ ...sample, id: newest - i, state: 'succeeded', ended_at: sample.submitted_at }));
  return Response.json({ jobs, next_cursor: '1' });
}

let told = 0;
let isCalm = false; // nothing happens

// So many events a second, or fewer where whoever reads them is slower.
function storm(sample: Job, perSecond: number): Response {
  let seq = 10_000_000;
  const lives = life(sample);
  const encoder = new TextEncoder();
  let next = Date.now();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      next = Math.max(next, Date.now() - burstMs);
      await new Promise((resolve) => setTimeout(resolve, next - Date.now()));
      next += burstMs;
      let text = isCalm ? ': alive\n\n' : '';
      for (let i = 0; !isCalm && i < (perSecond * burstMs) / 1000; i += 1) {
        seq += 1;
        told += 1;
        const event = { seq, time: new Date().toISOString(), actor: 'scheduler', text: 'a line about it', ...lives.next().value };
        text += `id: ${seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

async function openStorm(perSecond: number): Promise<Page> {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?limit=1`)).json()) as { jobs: Job[] };
  site.server.override = ({ path }) => {
    if (path.startsWith('/api/v1/events?after')) return storm(jobs[0]!, perSecond);
    if (path.startsWith('/api/v1/jobs?')) return newestJobs(jobs[0]!);
    const asked = /\/jobs\/(\d{7})$/.exec(path)?.[1];
    return asked ? Response.json({ ...jobs[0]!, id: Number(asked), state: 'succeeded', ended_at: new Date().toISOString() }) : null;
  };
  const page = await site.open('/jobs?state=all', { isOwn: true });
  await page.locator('.grid-row').first().waitFor();
  return page;
}

// What the page holds after all that nobody needs is gone. Only Chromium tells.
async function scales(page: Page): Promise<() => Promise<{ heap: number; nodes: number; listeners: number }>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find((each) => each.name === name)!.value;
    return { heap: of('JSHeapUsedSize'), nodes: of('Nodes'), listeners: of('JSEventListeners') };
  };
}

it.skipIf(isFirefox)('keeps its memory while events pour in for a long time', { timeout: 150_000 }, async () => {
  const page = await openStorm(eventsPerSecond);
  const weigh = await scales(page);
  await page.waitForTimeout(1000 * warmSeconds);
  // Lists grow until they are asked for again, as this one is when somebody comes back to it, so that is when they are weighed.
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await page.waitForTimeout(500 * roundSeconds);
    await goTo(page, '/incidents');
    await page.waitForTimeout(500 * roundSeconds);
    const answered = page.waitForResponse(/\/jobs\?/);
    await goTo(page, '/jobs?state=all');
    await answered;
    heaps.push((await weigh()).heap);
  }
  const [before, after] = [heaps.slice(0, rounds / 2), heaps.slice(rounds / 2)].map((half) => Math.min(...half));
  console.log(`heap at ${eventsPerSecond} events/s, each time the list was asked for, in MB: ${heaps.map((each) => (each / 1e6).toFixed(1)).join(' ')}`);
  expect(after).toBeLessThan(before! * 1.1);
});

it.runIf(soakMinutes > 0 && !isFirefox)('keeps its memory while it stays open all day', { timeout: 60_000 * (soakMinutes + 8) }, async () => {
  isCalm = true;
  const page = await openStorm(soakRate);
  const weigh = await scales(page);
  const look = async () => {
    await page.waitForResponse(/\/jobs\?/, { timeout: 60_000 });
    const weight = await weigh();
    return { ...weight, rows: Number(await page.getByRole('grid').getAttribute('aria-rowcount')) };
  };
  const say = (when: string, { heap, nodes, listeners, rows }: Awaited<ReturnType<typeof look>>): void =>
    console.log(`${when}: ${told} events, heap ${(heap / 1e6).toFixed(2)} MB with ${rows} rows, ${nodes} nodes, ${listeners} listeners`);
  // What stays when it is over: three answers later the lists are those of the server.
  const rest = async (when: string): Promise<void> => {
    isCalm = true;
    for (let answer = 0; answer < 3; answer += 1) say(`${when}, answer ${answer + 1}`, await look());
    isCalm = false;
  };
  await rest('before');
  const heaps: number[] = [];
  await page.waitForTimeout(1000 * warmSeconds);
  const from = Date.now();
  for (let minute = 0; minute <= soakMinutes; minute += 1) {
    await page.waitForTimeout(Math.max(0, from + 60_000 * minute - Date.now()));
    // The list grows until it is asked for anew, so that is when it is weighed; on a busy machine it may have grown again.
    const looks = [await look(), await look(), await look()];
    const lightest = looks.reduce((best, each) => (each.heap < best.heap ? each : best));
    heaps.push(lightest.heap);
    say(`minute ${minute}`, lightest);
  }
  await rest('after');
  const [first, second] = [heaps.slice(0, heaps.length / 2), heaps.slice(heaps.length / 2)].map((half) => Math.min(...half));
  expect(second).toBeLessThan(first! * 1.1);
});
