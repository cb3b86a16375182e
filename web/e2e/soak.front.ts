import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { answerLog, type MadeLog } from '../src/demo/logs';
import { isFirefox } from './browser';
import { goTo, isAll, patience } from './patience';
import { visit } from './visit';

const site = visit();

// More than a busy cluster tells, so that a leak shows soon.
const eventsPerSecond = isAll ? 700 : 1_400;
const burstMs = 100;
const warmSeconds = isAll ? 15 : 16; // until the rings of events are full
const rounds = isAll ? 20 : 10;
const roundSeconds = isAll ? 3 : 2;
// `HAI_SOAK_MINUTES=30 npm run front -- soak`: pages that nobody touches, HAI_SOAK_PAGES of jobs, overview, now and job,
// under HAI_SOAK_RATE events a second.
const soakMinutes = Number(process.env.HAI_SOAK_MINUTES ?? 0);
const soakRate = Number(process.env.HAI_SOAK_RATE ?? 3_000);
const soakRoundMinutes = 3;
const soakPages = (process.env.HAI_SOAK_PAGES ?? 'jobs overview job').split(' ');
const soakWarmSeconds = 120; // in the first minutes the browser compiles what runs often, half a megabyte to one
const logLinesPerSecond = 200;

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
let told = 0; // events, by storms

function newestJobs(sample: Job): Response {
  const jobs = Array.from({ length: 1_000 }, (_, i) => ({ ...sample, id: newest - i, state: 'succeeded', ended_at: sample.submitted_at }));
  return Response.json({ jobs, next_cursor: '1' });
}

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
      let text = '';
      for (let i = 0; i < (perSecond * burstMs) / 1000; i += 1) {
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

interface Weight { heap: number; nodes: number; listeners: number }

// What the page holds after all that nobody needs is gone. Only Chromium tells.
async function scales(page: Page): Promise<() => Promise<Weight>> {
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
  // By what it was told, not by the clock: a page on a busy machine reads slower.
  await expect.poll(() => told, { timeout: 60_000, interval: 100 }).toBeGreaterThan(eventsPerSecond * warmSeconds);
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

// One cluster, which tells all its pages the same, however slow one of them reads.
class Teller {
  told = 0;
  isCalm = true; // nothing happens
  readonly given: number[] = []; // events, of each stream in the order in which they began
  private seq = 10_000_000;
  private readonly lives: ReturnType<typeof life>;
  private readonly log: MadeLog;
  private recent: Told[] = [];
  private text = '';
  private count = 0;
  private waiting: (() => void)[] = [];
  private readonly timer: ReturnType<typeof setInterval>;

  constructor(readonly job: Job, perSecond: number) {
    this.lives = life(job);
    const began = Date.now();
    const lineMs = 1000 / logLinesPerSecond;
    const timeOf = (line: number): number => began + (line - 1_000) * lineMs;
    this.log = { lines: (now) => 1_000 + Math.floor((now - began) / lineMs), isOver: () => false, lineBytes: 120, timeOf, textOf: (line) => `step ${line}: loss 1.234` };
    this.timer = setInterval(() => this.tell((perSecond * burstMs) / 1000), burstMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  stream(): Response {
    const encoder = new TextEncoder();
    const at = this.given.push(0) - 1;
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await new Promise<void>((resolve) => this.waiting.push(resolve));
        controller.enqueue(encoder.encode(this.text));
        this.given[at]! += this.count;
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  }

  answer(path: string): Response | null {
    const { pathname, searchParams: query } = new URL(path, 'http://any');
    if (path.startsWith('/api/v1/events?after')) return this.stream();
    if (pathname === '/api/v1/jobs') return newestJobs(this.job);
    const asked = /\/jobs\/(\d{7})$/.exec(path)?.[1];
    if (asked) return Response.json({ ...this.job, id: Number(asked), state: 'succeeded', ended_at: new Date().toISOString() });
    if (pathname.endsWith('/logs')) return answerLog(this.log, query);
    if (!pathname.endsWith('/events')) return null;
    const kinds = query.getAll('kind');
    const of = pathname === '/api/v1/events' ? '' : `job/${this.job.id}`;
    const events = this.recent.filter(({ kind, subject }) => (kinds.length === 0 || kinds.includes(kind)) && (of === '' || subject === of));
    return Response.json({ events: events.slice(-1_000).reverse(), next_cursor: null });
  }

  private tell(count: number): void {
    const fresh = this.isCalm ? [] : Array.from({ length: count }, (_, i) => this.next(i === 0));
    this.text = fresh.length === 0 ? ': alive\n\n' : fresh.map((event) => `id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    this.count = fresh.length;
    this.told += fresh.length;
    this.recent = this.recent.concat(fresh).slice(-20_000);
    for (const go of this.waiting.splice(0)) go();
  }

  // The job whose page is open reports something now and then.
  private next(isOfJob: boolean): Told {
    this.seq += 1;
    const of = { seq: this.seq, time: new Date().toISOString(), actor: 'scheduler', text: 'a line about it' };
    if (!isOfJob) return { ...of, ...this.lives.next().value };
    const checkpoint = { name: `step-${this.seq}`, step: this.seq, at: of.time };
    return { ...of, kind: 'checkpoint_reported', subject: `job/${this.job.id}`, body: { job: this.job.id, checkpoint } };
  }
}

interface Look extends Weight { rows: number }

interface Open { name: string; page: Page; weigh: () => Promise<Weight>; looks: Look[] }

interface Told { seq: number; time: string; kind: string; subject: string; body: object }

it.runIf(soakMinutes > 0 && !isFirefox)('keeps its memory while it stays open all day', { timeout: 60_000 * (soakMinutes + 10) * patience }, async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?limit=1&state=running`)).json()) as { jobs: Job[] };
  const teller = new Teller(jobs[0]!, soakRate);
  site.server.override = ({ path }) => teller.answer(path);
  // Each in a context of its own, so with a heap and a stream of its own.
  const paths: Record<string, string> = { jobs: '/jobs?state=all', overview: '/', now: '/now', job: `/jobs/${jobs[0]!.id}` };
  const pages: Open[] = [];
  for (const name of soakPages) {
    const page = await site.open(paths[name]!, { isOwn: true });
    pages.push({ name, page, weigh: await scales(page), looks: [] });
  }
  await pages[0]!.page.waitForTimeout(1000 * warmSeconds);
  // Lists grow until they are asked for anew, so they are weighed in a pause, when they are as the server's again: else a
  // list of 2,000 rows would be weighed against one of 1,300.
  const look = async ({ name, page, weigh }: Open): Promise<Look> => {
    if (name === 'jobs') for (let answers = 0; answers < 2; answers += 1) await page.waitForResponse(/\/jobs\?/, { timeout: 60_000 * patience });
    const looks = [await weigh(), await weigh(), await weigh()];
    const least = looks.reduce((best, each) => (each.heap < best.heap ? each : best));
    return { ...least, rows: name === 'jobs' ? Number(await page.getByRole('grid').getAttribute('aria-rowcount')) : 0 };
  };
  const say = (when: string, { name }: Open, { heap, nodes, listeners, rows }: Look): void =>
    console.log(`${when}, ${name}: heap ${(heap / 1e6).toFixed(2)} MB${rows > 0 ? ` with ${rows} rows` : ''}, ${nodes} nodes, ${listeners} listeners`);
  for (const open of pages) say('before', open, await look(open));
  const tell = (seconds: number): Promise<void> => {
    teller.isCalm = false;
    return pages[0]!.page.waitForTimeout(1000 * seconds).finally(() => (teller.isCalm = true));
  };
  await tell(soakWarmSeconds);
  // Two weighings at least, or nothing would be compared.
  for (let minute = 0; minute <= Math.max(soakMinutes, soakRoundMinutes); minute += soakRoundMinutes) {
    if (minute > 0) await tell(60 * soakRoundMinutes);
    console.log(`minute ${minute}: ${teller.told} events, read by the pages ${teller.given.join(', ')}`);
    for (const open of pages) {
      const found = await look(open);
      open.looks.push(found);
      say(`minute ${minute}`, open, found);
    }
  }
  teller.stop();
  for (const { name, looks } of pages) {
    expect(new Set(looks.map(({ rows }) => rows)).size, `${name}: counts of rows`).toBe(1);
    const heaps = looks.map(({ heap }) => heap);
    const [first, second] = [heaps.slice(0, heaps.length / 2), heaps.slice(heaps.length / 2)].map((half) => Math.min(...half));
    expect(second, name).toBeLessThan(first! * 1.1);
  }
});
