import { expect, it } from 'vitest';
import type { Job } from '../src/api/types';
import { goTo, isAll } from './patience';
import { visit } from './visit';

const site = visit();

// More than a busy cluster tells, so that a leak shows soon.
const eventsPerSecond = isAll ? 700 : 1_400;
const burstMs = 100;
const warmSeconds = isAll ? 15 : 8; // until the rings of events are full
const rounds = isAll ? 20 : 10;
const roundSeconds = isAll ? 3 : 2;

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

function storm(sample: Job): Response {
  let seq = 10_000_000;
  const told = life(sample);
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval>;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => {
        let text = '';
        for (let i = 0; i < (eventsPerSecond * burstMs) / 1000; i += 1) {
          seq += 1;
          const event = { seq, time: new Date().toISOString(), actor: 'scheduler', text: 'a line about it', ...told.next().value };
          text += `id: ${seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
        }
        controller.enqueue(encoder.encode(text));
      }, burstMs);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

it('keeps its memory while events pour in for a long time', { timeout: 150_000 }, async () => {
  const { jobs } = (await (await fetch(`${site.server.url}/api/v1/jobs?limit=1`)).json()) as { jobs: Job[] };
  site.server.override = ({ path }) => {
    if (path.startsWith('/api/v1/events?after')) return storm(jobs[0]!);
    if (path.startsWith('/api/v1/jobs?')) return newestJobs(jobs[0]!);
    const asked = /\/jobs\/(\d{7})$/.exec(path)?.[1];
    return asked ? Response.json({ ...jobs[0]!, id: Number(asked), state: 'succeeded', ended_at: new Date().toISOString() }) : null;
  };
  const page = await site.open('/jobs?state=all', { isOwn: true });
  await page.locator('.grid-row').first().waitFor();
  const session = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
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
    heaps.push(await heap());
  }
  const [before, after] = [heaps.slice(0, rounds / 2), heaps.slice(rounds / 2)].map((half) => Math.min(...half));
  console.log(`heap at ${eventsPerSecond} events/s, each time the list was asked for, in MB: ${heaps.map((each) => (each / 1e6).toFixed(1)).join(' ')}`);
  expect(after).toBeLessThan(before! * 1.1);
});
