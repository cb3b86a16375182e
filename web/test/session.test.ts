import { beforeEach, expect, it, vi } from 'vitest';
import { isLoginNeeded, setTransport } from '../src/api/client';
import { beginSession, session, signOut } from '../src/api/session';

const ann = { user: 'ann', role: 'user', expires_at: '2026-01-01T00:00:00Z', csrf: 'what goes with it' };
const asked: RequestInit[] = [];
const answer = (status: number, body = ''): void =>
  setTransport((path, init) => {
    expect(path).toBe('/api/v1/session');
    asked.push(init);
    return Promise.resolve(new Response(status === 204 ? null : body, { status }));
  });

beforeEach(() => {
  asked.length = 0;
  session.set(ann);
  isLoginNeeded.set(false);
});

it('leaves when the server has ended the session', async () => {
  answer(204);
  await signOut();
  expect(asked).toMatchObject([{ method: 'DELETE', headers: { 'X-Hai-Csrf': ann.csrf } }]);
  expect(session.get()).toBeNull();
  expect(isLoginNeeded.get()).toBe(true);
});

it('leaves when the session was over before', async () => {
  answer(401);
  await signOut();
  expect(session.get()).toBeNull();
});

it('stays, and says why, when the server did not end the session', async () => {
  answer(503, JSON.stringify({ title: 'unavailable', detail: 'no leader' }));
  await expect(signOut()).rejects.toThrow('no leader');
  expect(session.get()).toBe(ann);
  expect(isLoginNeeded.get()).toBe(false);
});

it('stays when the server does not answer', async () => {
  setTransport(() => Promise.reject(new TypeError('failed to fetch')));
  await expect(signOut()).rejects.toThrow('the server does not answer');
  expect(session.get()).toBe(ann);
});

it('has not left before the server has answered', async () => {
  let end: (response: Response) => void = () => undefined;
  setTransport(() => new Promise((resolve) => (end = resolve)));
  const done = signOut();
  expect(session.get()).toBe(ann);
  end(new Response(null, { status: 204 }));
  await done;
  expect(session.get()).toBeNull();
});

it.each([[401, true], [429, false], [502, false], [503, false]])('begins with a server that says %i: signed out is %s', async (status, isOut) => {
  vi.stubGlobal('location', { hash: '', pathname: '/', search: '' });
  vi.stubGlobal('localStorage', { getItem: () => null, removeItem: () => undefined });
  session.set(null);
  answer(status, JSON.stringify({ title: 'x', detail: 'x' }));
  await beginSession();
  expect(isLoginNeeded.get()).toBe(isOut);
  vi.unstubAllGlobals();
});
