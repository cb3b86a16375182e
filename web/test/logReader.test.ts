import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setTransport } from '../src/api/client';
import { type Log, LogReader, tailBytes } from '../src/pages/job/logReader';

// Each answer in turn; the last one again and again.
interface Given {
  status?: number;
  headers?: Record<string, string>;
  pieces?: (string | Error)[];
}

const asked: URLSearchParams[] = [];
const readers: LogReader[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  asked.length = 0;
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const stamp = (line: number): string => new Date(Date.UTC(2026, 10, 20) + 1000 * line).toISOString();
const lines = (from: number, to: number, text = 'x'): string =>
  Array.from({ length: to - from + 1 }, (_, i) => `${stamp(from + i)} ${text} ${from + i}\n`).join('');

function answerOf({ status = 200, headers = {}, pieces = [] }: Given): Response {
  if (status !== 200) return Response.json({ title: 'unavailable', detail: String(pieces[0]) }, { status });
  const rest = [...pieces];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = rest.shift();
      if (piece === undefined) controller.close();
      else if (typeof piece === 'string') controller.enqueue(new TextEncoder().encode(piece));
      else controller.error(piece);
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/plain', ...headers } });
}

function read(isOver: () => boolean, ...given: Given[]): { now: () => Log } {
  let now: Log | null = null;
  setTransport((path) => {
    asked.push(new URL(path, 'http://x').searchParams);
    return Promise.resolve(answerOf(given.length > 1 ? given.shift()! : given[0]!));
  });
  const reader = new LogReader({ job: '7', attempt: 1, rank: 0 }, isOver, (log) => (now = log));
  readers.push(reader);
  void reader.run();
  return { now: () => now! };
}
const settle = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const over = (): boolean => true;

it('says why the log of a rank that has ended can not be read, and does not call it complete', async () => {
  const log = read(over, { status: 503, pieces: ['node n1 is not connected'] });
  await settle();
  expect(asked[0]!.get('follow')).toBe('false');
  expect(log.now()).toMatchObject({ state: 'ended', lines: [] });
  expect(log.now().error?.message).toBe('node n1 is not connected');
});

it('knows of a log from the store up to when it goes', async () => {
  const headers = { 'HAI-Log-Source': 'node n1 is down: from the log store', 'HAI-Log-Until': stamp(9) };
  const log = read(over, { headers, pieces: [lines(1, 3)] });
  await settle();
  expect(log.now()).toMatchObject({ state: 'ended', source: 'node n1 is down: from the log store', until: stamp(9) });
});

it('asks once more, without following, when the rank ended while it was followed', async () => {
  let isOver = false;
  const log = read(() => isOver, { pieces: [lines(1, 3)] }, { pieces: [lines(1, 3), `${stamp(4)} no line end`] });
  await settle();
  expect(log.now().state).toBe('asking'); // the end of the body may be that of the connection
  isOver = true;
  await settle(2_000);
  expect(asked.map((each) => each.get('follow'))).toEqual(['true', 'false']);
  expect(log.now()).toMatchObject({ state: 'ended', isWhole: true, error: null });
  expect(log.now().lines).toEqual([...lines(1, 3).trim().split('\n'), `${stamp(4)} no line end`]);
});

it('says that the connection is lost when it broke, and not when the answer ended', async () => {
  const log = read(() => false, { pieces: [lines(1, 3), new TypeError('network error')] }, { pieces: [lines(1, 4)] });
  await settle();
  expect(log.now().state).toBe('lost');
  await settle(2_000);
  expect(log.now().state).toBe('asking');
  expect(log.now().lines).toHaveLength(4);
});

it('counts bytes, not letters, to tell whether it has the whole log', async () => {
  const log = read(over, { pieces: [lines(1, 1_500, '漢'.repeat(40))] });
  await settle();
  expect(log.now().lines.join('\n').length).toBeLessThan(tailBytes / 2);
  expect(log.now().isWhole).toBe(false);
});

it('does not take the beginning of a tail for the beginning of the log', async () => {
  // The first reading broke off early; the second one shows that there is more than a tail holds.
  const long = 'x'.repeat(200);
  const log = read(over, { pieces: [lines(1, 20, long), new TypeError('network error')] }, { pieces: [lines(1, 1_000, long)] });
  await settle(2_000);
  expect(log.now()).toMatchObject({ state: 'ended', isWhole: false });
  expect(log.now().lines).toHaveLength(1_000);
});

it('is not whole once lines were given up', async () => {
  const log = read(
    over,
    { pieces: [lines(1, 3), new TypeError('network error')] },
    { pieces: [lines(50, 52)] },
    { pieces: [lines(50, 52)] },
    { pieces: [lines(50, 52)] },
  );
  await settle(2_000);
  expect(log.now()).toMatchObject({ state: 'ended', isWhole: false });
  expect(log.now().lines).toHaveLength(7);
});

it('does not wait for ever for an answer to begin', async () => {
  let now: Log | null = null;
  setTransport((_, init) => new Promise((_resolve, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason as Error))));
  const reader = new LogReader({ job: '7', attempt: 1, rank: 0 }, over, (log) => (now = log));
  readers.push(reader);
  void reader.run();
  await settle(19_000);
  expect(now).toBeNull();
  await settle(2_000);
  expect(now).toMatchObject({ state: 'lost' });
});
