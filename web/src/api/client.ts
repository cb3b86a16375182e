import { createStore } from '../lib/store';

// Everything the page asks goes through `transport`: the network, or the demo's world in the browser.
export type Transport = (path: string, init: RequestInit) => Promise<Response>;

let transport: Transport = (path, init) => fetch(path, init);
export function setTransport(next: Transport): void {
  transport = next;
}

export const isLoginNeeded = createStore(false);
// Set while a server that has lost its lease or its store answers from what it last knew.
export const staleSince = createStore<string | null>(null);

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
    return new ApiError(response.status, '', text || `the server answered ${response.status}`);
  }
}

export async function open(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if ((init.method ?? 'GET') !== 'GET') headers.set('X-Hai-Csrf', await csrf());
  const response = await ask(path, { ...init, headers });
  staleSince.set(response.headers.get('Hai-Stale-Since'));
  if (response.ok) return response;
  if (response.status === 401) isLoginNeeded.set(true);
  throw await errorOf(response);
}

// As it is, without a look at the answer.
export async function ask(path: string, init: RequestInit): Promise<Response> {
  try {
    return await transport(path, init);
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new ApiError(0, 'unreachable', 'the server does not answer');
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await open(`/api/v1${path}`, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function send<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<T> {
  const response = await open(`/api/v1${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return (text === '' ? null : JSON.parse(text)) as T;
}
