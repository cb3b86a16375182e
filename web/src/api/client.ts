import { createStore } from '../lib/store';

// Everything the page asks goes through `transport`: the network, or the demo's world in the browser.
export type Transport = (path: string, init: RequestInit) => Promise<Response>;

let transport: Transport = (path, init) => fetch(path, init);
export function setTransport(next: Transport): void {
  transport = next;
}

const tokenKey = 'hai.token';
export const token = createStore(localStorage.getItem(tokenKey) ?? '');
export const isLoginNeeded = createStore(false);
// Set while a server that has lost its lease or its store answers from what it last knew.
export const staleSince = createStore<string | null>(null);

export function signIn(secret: string): void {
  if (secret === '') localStorage.removeItem(tokenKey);
  else localStorage.setItem(tokenKey, secret);
  token.set(secret);
  isLoginNeeded.set(false);
}

// `hai dev up` prints an address that ends in #token=…: what follows # never leaves the browser, and
// it goes from the address bar before anybody bookmarks it.
export function signInFromAddress(): void {
  const secret = new URLSearchParams(location.hash.slice(1)).get('token');
  if (secret === null) return;
  signIn(secret);
  history.replaceState(null, '', location.pathname + location.search);
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

async function errorOf(response: Response): Promise<ApiError> {
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
  if (token.get() !== '') headers.set('Authorization', `Bearer ${token.get()}`);
  let response: Response;
  try {
    response = await transport(path, { ...init, headers });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new ApiError(0, 'unreachable', 'the server does not answer');
  }
  staleSince.set(response.headers.get('Hai-Stale-Since'));
  if (response.ok) return response;
  if (response.status === 401) isLoginNeeded.set(true);
  throw await errorOf(response);
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
