import { createStore } from '../lib/store';
import { ApiError, ask, errorOf, isLoginNeeded, setCsrf } from './client';

// Who is signed in here. The secret of his session is in a cookie that no script can read; the page
// has what goes with it in changes, and forgets that too when it is closed.
interface Session {
  user: string;
  role: string;
  expires_at: string;
  csrf: string;
}
export const session = createStore<Session | null>(null);

// Tokens were kept here once.
const oldTokenKey = 'hai.token';

const answerMs = 10_000;

type Message = 'in' | 'out';
const channel = new BroadcastChannel('hai.session');
channel.onmessage = (event: MessageEvent<Message>): void => {
  if (event.data === 'out') leave();
  else void resume().catch(() => undefined);
};

function enter(next: Session): void {
  session.set(next);
  isLoginNeeded.set(false);
}

function leave(): void {
  session.set(null);
  isLoginNeeded.set(true);
}

async function post(body?: object): Promise<Session> {
  const response = await ask('/api/v1/session', {
    method: 'POST',
    signal: AbortSignal.timeout(answerMs),
    ...(body ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } } : {}),
  });
  if (!response.ok) throw await errorOf(response);
  return (await response.json()) as Session;
}

// What the site's identity provider is called, if people may sign in there.
export async function providerName(): Promise<string | null> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await ask('/api/v1/session/begin', { method: 'POST', body: '{}', headers, signal: AbortSignal.timeout(answerMs) });
  if (!response.ok) return null;
  const ways = (await response.json()) as { methods: string[]; provider: string };
  return ways.methods.includes('oidc') ? ways.provider : null;
}

// Where the browser goes to sign in there, and comes back to this page from.
export function providerAddress(): string {
  return `/api/v1/oidc/login?next=${encodeURIComponent(location.pathname + location.search)}`;
}

// A token is shown once, for a session of its user's.
export async function signIn(token: string): Promise<void> {
  enter(await post({ token }));
  channel.postMessage('in' satisfies Message);
}

// The session of the cookie, which was there before this page.
async function resume(): Promise<void> {
  try {
    enter(await post());
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) leave();
    throw error;
  }
}

// Every tab is of the same session: all leave, once the server has ended it or says that it is over.
// Else this throws and nobody leaves: a page that looks signed out while the cookie still lets in
// whoever sits down there next would be worse than one that says that it could not.
export async function signOut(): Promise<void> {
  const csrf = session.get()?.csrf ?? '';
  const response = await ask('/api/v1/session', { method: 'DELETE', headers: { 'X-Hai-Csrf': csrf }, signal: AbortSignal.timeout(answerMs) });
  if (!response.ok && response.status !== 401) throw await errorOf(response);
  leave();
  channel.postMessage('out' satisfies Message);
}

// `hai dev up` prints an address that ends in #token=…: what follows # never leaves the browser, and
// it goes from the address bar before anybody bookmarks it.
function takeFromAddress(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return '';
  history.replaceState(null, '', location.pathname + location.search);
  return token;
}

// Whoever is signed in stays who he is: another page may have opened this address, with a token of
// its own.
async function resumeOrSignIn(token: string): Promise<void> {
  try {
    await resume();
  } catch (error) {
    if (token === '' || !(error instanceof ApiError) || error.status !== 401) throw error;
    await signIn(token);
  }
}

// Before the first page is shown. Whoever is not signed in then is asked to. A server that does not
// answer, or can't say it now (its database is away, a proxy stands in its place), signs nobody out: it
// is asked again with the first change.
export async function beginSession(): Promise<void> {
  setCsrf(async () => {
    if (session.get() === null) await resume();
    return session.get()?.csrf ?? '';
  });
  const shown = takeFromAddress();
  const old = localStorage.getItem(oldTokenKey) ?? '';
  try {
    await resumeOrSignIn(shown || old);
    localStorage.removeItem(oldTokenKey);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) return;
    localStorage.removeItem(oldTokenKey);
    leave();
  }
}
