import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { errorOf, get, open, send, setCsrf, setTransport } from '../src/api/client';
import { staleSince } from '../src/lib/freshness';

const never = (_: string, init: RequestInit): Promise<Response> =>
  new Promise((_resolve, reject) => {
    const end = (): void => reject(init.signal!.reason as Error);
    if (init.signal?.aborted) end();
    else init.signal?.addEventListener('abort', end);
  });

beforeEach(() => setCsrf(() => Promise.resolve('x')));
afterEach(() => vi.restoreAllMocks());

const timeouts = (): number[] => {
  const asked: number[] = [];
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    asked.push(ms);
    const abort = new AbortController();
    queueMicrotask(() => abort.abort(new DOMException('late', 'TimeoutError')));
    return abort.signal;
  });
  return asked;
};

it('gives a change ten seconds, and says then that nobody knows whether it was made', async () => {
  setTransport(never);
  const asked = timeouts();
  await expect(send('POST', '/jobs/1/suspend')).rejects.toThrow('it is not known whether this was done');
  expect(asked).toEqual([10_000]);
});

it('says the same when the connection broke, and nothing like it of a refusal', async () => {
  setTransport(() => Promise.reject(new TypeError('failed to fetch')));
  await expect(send('POST', '/jobs/1/stop')).rejects.toThrow('it is not known whether this was done');
  setTransport(() => Promise.resolve(Response.json({ title: 'permission_denied', detail: 'not yours' }, { status: 403 })));
  await expect(send('POST', '/jobs/1/stop')).rejects.toThrow(/^not yours$/);
});

it('does not wait for ever for an answer to a question', async () => {
  setTransport(never);
  timeouts();
  await expect(get('/cluster')).rejects.toThrow('the server does not answer');
});

it('hears of old facts from answers only, not from refusals', async () => {
  const since = '2026-11-20T12:00:00.000Z';
  setTransport(() => Promise.resolve(new Response('{}', { headers: { 'Hai-Stale-Since': since } })));
  await open('/api/v1/cluster');
  expect(staleSince.get()).toBe(Date.parse(since));
  setTransport(() => Promise.resolve(Response.json({ title: 'unavailable', detail: 'no leader' }, { status: 503 })));
  await expect(open('/api/v1/jobs')).rejects.toThrow('no leader');
  expect(staleSince.get()).toBe(Date.parse(since));
  setTransport(() => Promise.resolve(new Response('{}')));
  await open('/api/v1/cluster');
  expect(staleSince.get()).toBeNull();
});

it('shows no page of a proxy as an error', async () => {
  const page = await errorOf(new Response('<html><h1>502 Bad Gateway</h1></html>', { status: 502 }));
  expect(page.message).toBe('the server answered 502');
  expect((await errorOf(new Response('no leader', { status: 503 }))).message).toBe('no leader');
});
