import { staleSince } from '../lib/freshness';
import { createStore } from '../lib/store';

// Everything the page asks goes through `transport`: the network, or the demo's world in the browser.
export type Transport = (path: string, init: RequestInit) => Promise<Response>;

let transport: Transport = (path, init) => fetch(path, init);
export function setTransport(next: Transport): void {
  transport = next;
}

export const isLoginNeeded = createStore(false);

// How long a question and a change may take; streams are open-ended once they have begun.
const questionMs = 30_000;
const changeMs = 10_000;

// Only hai answers so: a portal, a proxy or an ingress in its place has pages and formats of its own.
const typeOf = (response: Response): string => response.headers.get('Content-Type')?.split(';')[0]?.trim() ?? '';
const isOurs = (response: Response): boolean =>
  response.ok ? ['application/json', 'text/event-stream'].includes(typeOf(response)) : typeOf(response) === 'application/problem+json' && response.status < 500;

// Told of each sign of life of the server (pulse.ts).
let onHeard: () => void = () => undefined;
export function setOnHeard(next: () => void): void {
  onHeard = next;
}

// What every change says besides the cookie of the session, which scripts cannot read (session.ts).
let csrf: () => Promise<string> = () => Promise.resolve('');
export function setCsrf(next: () => Promise<string>): void {
  csrf = next;
}

// problem+json of the server, or the network's own failure with status 0.
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const problem = JSON.parse(text) as { title?: string; detail?: string };
    return new ApiError(response.status, problem.title ?? '', problem.detail ?? text);
  } catch {
    // A page of some proxy says nothing that belongs here.
    const isPlain = text !== '' && !text.trimStart().startsWith('<');
    return new ApiError(response.status, '', isPlain ? text : `the server answered ${response.status}`);
  }
}

export async function open(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if ((init.method ?? 'GET') !== 'GET') headers.set('X-Hai-Csrf', await csrf());
  const response = await ask(path, { ...init, headers });
  if (response.ok && typeOf(response) === 'text/html') throw new ApiError(0, '', 'something else answers in its place');
  if (response.ok) {
    // Only good answers say it: a refusal tells nothing about the age of what is shown.
    const since = response.headers.get('Hai-Stale-Since');
    staleSince.set(since === null ? null : Date.parse(since));
    return response;
  }
  if (response.status === 401) isLoginNeeded.set(true);
  throw await errorOf(response);
}

// As it is, without a look at the answer. A signal that runs out of time means that nothing answers.
export async function ask(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await transport(path, init);
    if (isOurs(response)) onHeard();
    return response;
  } catch (cause) {
    throw unanswered(cause, init.signal);
  }
}

function unanswered(cause: unknown, signal: AbortSignal | null | undefined): unknown {
  const isTimeout = signal?.aborted === true && (signal.reason as Error | undefined)?.name === 'TimeoutError';
  return signal?.aborted && !isTimeout ? cause : new ApiError(0, 'unreachable', 'the server does not answer');
}

// A stream whose answer must begin within that time; then it is open-ended.
export async function openStream(path: string, init: RequestInit & { signal: AbortSignal }, beginMs: number): Promise<Response> {
  const begin = new AbortController();
  const timer = setTimeout(() => begin.abort(new DOMException('late', 'TimeoutError')), beginMs);
  try {
    return await open(path, { ...init, signal: AbortSignal.any([init.signal, begin.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

function within(ms: number, signal?: AbortSignal): AbortSignal {
  return signal ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : AbortSignal.timeout(ms);
}

export async function get<T>(path: string, signal?: AbortSignal, ms = questionMs): Promise<T> {
  const limit = within(ms, signal);
  const response = await open(`/api/v1${path}`, { signal: limit });
  return readBody(response, limit);
}

// The answer may stop in its middle too.
async function readBody<T>(response: Response, signal: AbortSignal): Promise<T> {
  try {
    const text = await response.text();
    return (text === '' ? null : JSON.parse(text)) as T;
  } catch (cause) {
    throw cause instanceof SyntaxError ? cause : unanswered(cause, signal);
  }
}

interface Sending {
  headers?: Record<string, string>;
  ms?: number;
}

async function post<T>(method: string, path: string, body: unknown, { headers = {}, ms = changeMs }: Sending): Promise<T> {
  const limit = within(ms);
  const response = await open(`/api/v1${path}`, {
    method,
    signal: limit,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return readBody(response, limit);
}

// A question that needs a body; it changes nothing.
export const inquire = <T>(path: string, body: unknown): Promise<T> => post<T>('POST', path, body, { ms: questionMs });

// A change. When no answer comes it may have been made all the same, which the error says.
export async function send<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  try {
    return await post<T>(method, path, body, { headers });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 0) throw error;
    throw new ApiError(0, 'outcome unknown', `${error.message}; it is not known whether this was done. Look again before you repeat it`);
  }
}
