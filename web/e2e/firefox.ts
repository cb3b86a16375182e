import { type Browser, firefox } from 'playwright-core';

// Debian's Firefox, over WebDriver BiDi: playwright's own protocol is only in a Firefox that it has patched.
export async function launchFirefox(): Promise<Browser> {
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    args: ['--remote-allow-system-access'], // for the colours below
    firefoxUserPrefs: {
      'dom.events.testing.asyncClipboard': true, // a test may read it
      // Its pages crash (153.7) where axe and playwright, each from a world of its own, read the same element's
      // ariaLabelledByElements; without these properties both read the attributes, which is all that the pages set.
      'accessibility.ARIAElementReflection.enabled': false,
    },
  });
  teachColours(browser);
  teachTyping(browser);
  teachSaving(browser);
  return browser;
}

// As playwright fills a field of Firefox, by its value, React hears nothing of it. This is what a paste does.
function teachTyping(browser: Browser): void {
  const make = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await make(options);
    await context.addInitScript(() => {
      const insert = (text: string): void => void document.execCommand('insertText', false, text);
      Object.defineProperty(window, '__pw_bidiInsertText', { get: () => insert, set: () => undefined, configurable: true });
    });
    return context;
  };
}

interface Session {
  send(method: string, params: Record<string, unknown>): Promise<unknown>;
  emit(name: string | symbol, event: { navigation?: string | null; url?: string }): boolean;
}

// What playwright has for each of its connections to Firefox.
function sessions(browser: Browser): { root: Session; proto: Session } {
  const { _browserSession: root } = (browser as unknown as { _connection: { toImpl(of: Browser): { _browserSession: Session } } })._connection.toImpl(browser);
  return { root, proto: Object.getPrototypeOf(root) as Session };
}

// A file that the page itself has made is saved by no navigation, and playwright leaves it out.
function teachSaving(browser: Browser): void {
  const { proto } = sessions(browser);
  const emit = proto.emit;
  proto.emit = function (this: Session, name, event) {
    if (String(name).startsWith('browsingContext.download')) event.navigation ??= event.url ?? null;
    return emit.call(this, name, event);
  };
}

// Firefox knows no command of BiDi's for the scheme of colours, with which playwright makes each context: its
// preference does the same, for all pages at once.
function teachColours(browser: Browser): void {
  const { root, proto } = sessions(browser);
  const send = proto.send;
  const choices: Record<string, number> = { dark: 0, light: 1 };
  proto.send = async function (this: Session, method, params) {
    if (method !== 'emulation.setMediaFeaturesOverride') return send.call(this, method, params);
    const scheme = (params.features as Record<string, string | null | undefined>)['prefers-color-scheme'];
    const window = (await send.call(root, 'browsingContext.getTree', { 'moz:scope': 'chrome', maxDepth: 0 })) as { contexts: { context: string }[] };
    const expression = `Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', ${choices[scheme ?? ''] ?? 2})`;
    return send.call(root, 'script.evaluate', { expression, target: { context: window.contexts[0]!.context }, awaitPromise: false });
  };
}
