import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { launchFirefox } from './firefox';
import { actionMs } from './patience';

export const isFirefox = process.env.BROWSER === 'firefox';

// Debian's Chromium, without the background connections that a closed network would refuse; BROWSER=firefox takes its Firefox.
export function launch(): Promise<Browser> {
  if (isFirefox) return launchFirefox();
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface Look {
  width: number;
  height: number;
  scheme: 'light' | 'dark';
  token?: string;
}

// The cookie of a session, as the page of signing in gets it.
export async function signIn(context: BrowserContext, url: string, token: string): Promise<void> {
  const answer = await context.request.post(new URL('/api/v1/session', url).href, { data: { token } });
  if (!answer.ok()) throw new Error(`signing in: ${answer.status()} ${await answer.text()}`);
}

export async function openPage(browser: Browser, url: string, look: Look): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.scheme,
    timezoneId: 'UTC',
    locale: 'en-GB',
    ignoreHTTPSErrors: true, // a dev cluster's certificate is of its own CA
  });
  if (look.token) await signIn(context, url, look.token);
  context.setDefaultTimeout(actionMs); // of the pages that this one opens, too
  const page = await context.newPage();
  await page.goto(url);
  return page;
}
