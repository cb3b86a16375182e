import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { open, setTransport } from '../src/api/client';
import { heard, startPulse } from '../src/api/pulse';
import { silence } from '../src/lib/freshness';

let stop: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  stop = startPulse(new QueryClient());
});
afterEach(() => {
  stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const problem = (status: number): Response =>
  new Response('{"title":"x","detail":"why"}', { status, headers: { 'Content-Type': 'application/problem+json' } });

it.each([
  ['the page of a portal', () => new Response('<html>Sign in to the hotel</html>', { headers: { 'Content-Type': 'text/html' } }), 'something else answers in its place'],
  ['an ingress without a backend', () => new Response('default backend - 404', { status: 404, headers: { 'Content-Type': 'text/plain' } }), 'default backend - 404'],
  ['a proxy', () => new Response('<html>502</html>', { status: 502 }), 'the server answered 502'],
  ['hai without a leader', () => problem(503), 'why'],
])('takes %s for no answer of the server', async (_, answer, why) => {
  setTransport(() => Promise.resolve(answer()));
  await vi.advanceTimersByTimeAsync(6_000);
  expect(silence.get()?.why).toBe(why);
});

it.each([401, 403, 429])('takes a refusal with %i for an answer', async (status) => {
  setTransport(() => Promise.resolve(problem(status)));
  await vi.advanceTimersByTimeAsync(6_000);
  expect(silence.get()).toBeNull();
});

it('hears the server in nothing that is not its own', async () => {
  silence.set({ since: 1, why: '' });
  setTransport(() => Promise.resolve(new Response('ok', { headers: { 'Content-Type': 'text/html; charset=utf-8' } })));
  await expect(open('/api/v1/jobs')).rejects.toThrow('something else answers');
  setTransport(() => Promise.resolve(new Response('no such page', { status: 404, headers: { 'Content-Type': 'text/plain' } })));
  await expect(open('/api/v1/jobs')).rejects.toThrow('no such page');
  expect(silence.get()).not.toBeNull();
  setTransport(() => Promise.resolve(problem(404)));
  await expect(open('/api/v1/jobs/9')).rejects.toThrow('why');
  expect(silence.get()).toBeNull();
});

// Another page tells when it heard the server, and may have heard nothing of late itself.
it('believes of another page only what is newer than its own unanswered question', async () => {
  const before = Date.now();
  setTransport(() => new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 4_000)));
  await vi.advanceTimersByTimeAsync(12_000);
  expect(silence.get()).not.toBeNull();
  heard(before);
  heard(before + 1_000);
  expect(silence.get()).not.toBeNull();
  heard(Date.now() - 1);
  expect(silence.get()).toBeNull();
});
