import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setTransport } from '../src/api/client';
import { type Log, LogSession, type Target } from '../src/pages/job/log/logSession';

// A log that is served as the server does it; `fail` says what is answered instead.
class Served {
  text = '';
  begin = 0;
  isOver = false;
  headers: Record<string, string> = {};
  held: Promise<void> | null = null; // parts come only then
  fail: ((query: URLSearchParams) => Response | Error | null) | null = null;
  isFirefox = false; // where an answer is told of with its first byte
  readonly asked: URLSearchParams[] = [];
  private readonly followers = new Set<{ push: () => void; cut: () => void }>();

  answer(path: string, signal?: AbortSignal | null): Promise<Response> {
    const query = new URL(path, 'http://x').searchParams;
    this.asked.push(query);
    const failed = this.fail?.(query) ?? null;
    if (failed instanceof Error) return Promise.reject(failed);
    if (failed) return Promise.resolve(failed);
    if (query.get('follow') === 'true') return this.isFirefox ? this.withFirstByte(query, signal!) : Promise.resolve(this.follow(query));
    const part = this.part(query);
    return (this.held ?? Promise.resolve()).then(() => part);
  }

  write(text: string): void {
    this.text += text;
    for (const follower of this.followers) follower.push();
  }

  cut(): void {
    for (const follower of [...this.followers]) follower.cut();
  }

  private part(query: URLSearchParams): Response {
    const tail = Number(query.get('tail_bytes') ?? 0);
    const asked = tail > 0 ? Math.max(0, this.text.length - tail) : Math.min(Number(query.get('offset') ?? 0), this.text.length);
    const from = Math.max(this.begin, tail > 0 && asked > 0 ? this.text.indexOf('\n', asked - 1) + 1 : asked); // a tail begins at a line
    const body = this.text.slice(from, from + Number(query.get('max_bytes')));
    const place = { 'HAI-Log-Offset': String(from), 'HAI-Log-Begin': String(this.begin), 'HAI-Log-Size': String(this.text.length), 'HAI-Log-Over': String(this.isOver) };
    return new Response(body, { headers: { 'Content-Type': 'text/plain', ...place, ...this.headers } });
  }

  private withFirstByte(query: URLSearchParams, signal: AbortSignal): Promise<Response> {
    return new Promise((resolve, reject) => {
      const follower = {
        push: () => this.followers.delete(follower) && resolve(this.follow(query)),
        cut: () => this.followers.delete(follower) && reject(new TypeError('network error')),
      };
      this.followers.add(follower);
      signal.addEventListener('abort', () => this.followers.delete(follower) && reject(signal.reason as Error));
    });
  }

  private follow(query: URLSearchParams): Response {
    let at = Number(query.get('offset'));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const follower = {
          push: () => {
            if (at < this.text.length) controller.enqueue(new TextEncoder().encode(this.text.slice(at)));
            at = this.text.length;
            if (this.isOver) (controller.close(), this.followers.delete(follower));
          },
          cut: () => (controller.error(new TypeError('network error')), this.followers.delete(follower)),
        };
        this.followers.add(follower);
        follower.push();
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/plain' } });
  }
}

const sessions: LogSession[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
});
afterEach(() => {
  for (const session of sessions.splice(0)) session.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const lineBytes = 250;
const line = (i: number): string => `line ${String(i).padStart(7, '0')}`.padEnd(lineBytes - 1) + '\n';
const lines = (from: number, to: number): string => Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
const settle = (ms = 500): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

function read(served: Served, isRankOver = () => served.isOver, target: Target = 'end', onState: (state: Log['state']) => void = () => undefined) {
  setTransport((path, init) => served.answer(path, init.signal));
  let log: Log | null = null;
  const session = new LogSession({ job: '7', attempt: 1, rank: 0 }, isRankOver, (now) => {
    log = now;
    onState(now.state);
  });
  sessions.push(session);
  void session.run(target);
  const texts = (): string[] => [...log!.blocks.flatMap((block) => block.lines), ...(log!.open ? [log!.open] : [])].map((each) => each.text);
  return { session, now: () => log!, texts, numbers: () => texts().map((text) => Number(text.slice(5, 12))) };
}
const oneByOne = (all: number[]): boolean => all.every((each, i) => i === 0 || each === all[i - 1]! + 1);

it('reads the end of a long log, knows its whole size, and finds the way to its beginning', async () => {
  const served = new Served();
  served.text = lines(0, 5_000);
  served.isOver = true;
  const log = read(served);
  await settle();
  expect(log.now()).toMatchObject({ state: 'ended', size: 1_250_000, isOver: true });
  expect(log.numbers().at(-1)).toBe(4_999);
  const first = log.numbers()[0]!;
  await log.session.extend('before');
  expect(log.numbers()[0]).toBeLessThan(first);
  expect(oneByOne(log.numbers())).toBe(true);
  await log.session.show({ offset: 0 });
  expect(log.numbers()[0]).toBe(0);
  for (let i = 0; i < 12; i += 1) await log.session.extend('after');
  expect(log.numbers().at(-1)).toBe(4_999);
  expect(oneByOne(log.numbers())).toBe(true);
  expect(log.numbers().length).toBeLessThan(3_700);
});

it('goes on at the byte where it broke off, with nothing twice', async () => {
  const served = new Served();
  served.text = lines(0, 10);
  const log = read(served);
  await settle();
  served.write(lines(10, 20) + 'line 00');
  await settle();
  expect(log.now().open?.text).toBe('line 00');
  served.fail = () => new TypeError('away');
  served.cut();
  await settle();
  expect(log.now().state).toBe('lost');
  served.text += line(20).slice(7) + lines(21, 40);
  served.fail = null;
  await settle(3_000);
  expect(log.now().state).toBe('following');
  served.write(lines(40, 50));
  await settle();
  expect(log.numbers()).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

it('does not read all that was written meanwhile, but moves to the end', async () => {
  const served = new Served();
  served.text = lines(0, 10);
  const log = read(served);
  await settle();
  served.fail = () => new TypeError('away');
  served.cut();
  await settle();
  served.text += lines(10, 6_000);
  served.fail = null;
  await settle(3_000);
  expect(log.numbers().at(-1)).toBe(5_999);
  expect(oneByOne(log.numbers())).toBe(true);
  expect(log.numbers().length).toBeLessThan(1_000);
});

it('leaves what somebody reads as it is while the log grows', async () => {
  const served = new Served();
  served.text = lines(0, 4_000);
  const log = read(served);
  await settle();
  log.session.isAtEnd = false;
  await log.session.show({ offset: 0 });
  served.write(lines(4_000, 4_400));
  await settle();
  expect(log.numbers()[0]).toBe(0);
  expect(log.now().size).toBe(1_100_000);
  expect(log.now().end).toBeLessThan(140_000);
  log.session.isAtEnd = true;
  await log.session.show('end');
  expect(log.numbers().at(-1)).toBe(4_399);
  served.write(lines(4_400, 4_410));
  await settle();
  expect(log.numbers().at(-1)).toBe(4_409);
  expect(oneByOne(log.numbers())).toBe(true);
});

it('lacks nothing that came while another part was on its way', async () => {
  const served = new Served();
  served.text = lines(0, 4_000);
  const log = read(served);
  await settle();
  await log.session.show({ offset: 0 });
  let release: () => void = () => undefined;
  served.held = new Promise((resolve) => (release = resolve));
  const showing = log.session.show('end');
  served.write(lines(4_000, 4_010));
  await settle();
  release();
  await showing;
  expect(log.numbers().at(-1)).toBe(4_009);
  served.write(lines(4_010, 4_020));
  await settle();
  expect(log.numbers().at(-1)).toBe(4_019);
  expect(oneByOne(log.numbers())).toBe(true);
});

it('knows a log as complete only when its rank is gone, and says so when it ended meanwhile', async () => {
  const served = new Served();
  served.text = lines(0, 10);
  const log = read(served);
  await settle();
  expect(log.now()).toMatchObject({ state: 'following', isOver: false });
  served.isOver = true;
  served.write(lines(10, 12));
  await settle(3_000);
  expect(log.now()).toMatchObject({ state: 'ended', isOver: true, error: null });
  expect(log.numbers()).toEqual(Array.from({ length: 12 }, (_, i) => i));
});

const problem = (status: number, detail: string): Response => Response.json({ title: 'x', detail }, { status });

it('says why the log of a rank that has ended can not be read, and does not call it complete', async () => {
  const served = new Served();
  served.fail = () => problem(503, 'node n1 is not connected');
  const log = read(served, () => true);
  await settle();
  expect(log.now()).toMatchObject({ state: 'ended', size: 0, isOver: false });
  expect(log.now().error?.message).toBe('node n1 is not connected');
});

it('waits for the log of a rank that is just starting', async () => {
  const served = new Served();
  served.fail = (query) => (query.get('follow') === 'true' ? null : problem(404, 'no log of rank 0'));
  const log = read(served);
  await settle();
  expect(log.now()).toMatchObject({ state: 'following', size: 0, error: null });
  served.fail = null;
  served.write(lines(0, 3));
  await settle();
  expect(log.numbers()).toEqual([0, 1, 2]);
});

it('knows of a log from the store up to when it goes', async () => {
  const served = new Served();
  served.text = lines(0, 3);
  served.headers = { 'HAI-Log-Source': 'node n1 is down: from the log store', 'HAI-Log-Until': '2026-11-20T00:00:09Z' };
  const log = read(served, () => true);
  await settle();
  expect(log.now()).toMatchObject({ state: 'ended', source: 'node n1 is down: from the log store', until: '2026-11-20T00:00:09Z' });
});

it('does not wait for ever for an answer to begin', async () => {
  setTransport((_, init) => new Promise((_resolve, reject) => init.signal!.addEventListener('abort', () => reject(init.signal!.reason as Error))));
  let log: Log | null = null;
  const session = new LogSession({ job: '7', attempt: 1, rank: 0 }, () => false, (now) => (log = now));
  sessions.push(session);
  void session.run('end');
  await settle(19_000);
  expect(log).toBeNull();
  await settle(2_000);
  expect(log).toMatchObject({ state: 'lost' });
});

it('follows a rank that is silent for minutes where an answer is told of with its first byte', async () => {
  const served = new Served();
  served.isFirefox = true;
  served.text = lines(0, 3);
  const states = new Set<string>();
  const log = read(served, () => served.isOver, 'end', (state) => states.add(state));
  await settle(130_000);
  expect([...states]).toEqual(['loading', 'following']);
  expect(served.asked.length).toBeLessThan(16);
  served.write(lines(3, 5));
  await settle();
  served.write(lines(5, 6));
  await settle();
  expect(log.numbers()).toEqual([0, 1, 2, 3, 4, 5]);
  served.fail = () => new TypeError('away');
  served.cut();
  await settle();
  expect(log.now().state).toBe('lost');
});

it('sees that a silent rank has ended, and that nothing answers any more', async () => {
  const served = new Served();
  served.isFirefox = true;
  served.text = lines(0, 3);
  const log = read(served);
  const other = read(served);
  await settle(5_000);
  served.isOver = true;
  await settle(20_000);
  expect(log.now()).toMatchObject({ state: 'ended', isOver: true });
  expect(other.now()).toMatchObject({ state: 'ended', isOver: true });
  const away = new Served();
  away.isFirefox = true;
  const third = read(away);
  await settle(5_000);
  away.fail = () => new TypeError('away');
  await settle(20_000);
  expect(third.now().state).toBe('lost');
});
