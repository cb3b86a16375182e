import { type FormEvent, type ReactNode, useCallback, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { get } from '../api/client';
import { connection } from '../api/live';
import { useCluster, useIncidents, useWhoAmI } from '../api/queries';
import { session, signOut } from '../api/session';
import type { Node } from '../api/types';
import { Dialog } from '../components/Dialog';
import { Menu } from '../components/Menu';
import { toast } from '../components/Toasts';
import { silence, staleSince } from '../lib/freshness';
import { useStore } from '../lib/store';
import { setZone, useZone, zoneLetters, zoneName } from '../lib/zone';
import { Banner } from './Banner';
import { goKeys, useShortcuts } from './keyboard';
import { Logo } from './Logo';
import { usePlaceOfMain } from './usePlaceOfMain';
import { setTheme, useChosenTheme, useTheme } from './theme';

const links = [
  ['/', 'Overview'],
  ['/now', 'Now'],
  ['/map', 'Map'],
  ['/jobs', 'Jobs'],
  ['/queue', 'Queue'],
  ['/nodes', 'Nodes'],
  ['/incidents', 'Incidents'],
  ['/history', 'History'],
  ['/quotas', 'Quotas'],
  ['/submit', 'Submit'],
] as const;

const isAt = (path: string, link: string): boolean =>
  link === '/' ? path === '/' : path === link || path.startsWith(`${link}/`);
// These fill the window and scroll inside.
const isFixed = (path: string): boolean => ['/map', '/jobs', '/nodes'].includes(path) || /^\/jobs\/[^/]+\/shell$/.test(path);

export function Shell({ isDemo, children }: { isDemo: boolean; children: ReactNode }) {
  const [path, go] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  usePlaceOfMain(main, path);
  const search = useRef<HTMLInputElement>(null);
  const focusSearch = useCallback(() => {
    const onPage = document.querySelector<HTMLInputElement>('[data-search]');
    (onPage ?? search.current)?.focus();
  }, []);
  useShortcuts(go, focusSearch, useCallback(() => setHelpOpen(true), []));
  const incidents = useIncidents().data?.length ?? 0;

  return (
    <div className="shell">
      <a className="skip button" href="#page" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the page
      </a>
      <header>
        <div className="top">
          <Link href="/" className="brand">
            <Logo /> <span className="word">hai</span> <ClusterName />
          </Link>
          {isDemo && <span className="demo-mark">demo</span>}
          <nav className="nav" aria-label="pages">
            {links.map(([href, title]) => (
              <Link key={href} href={href} aria-current={isAt(path, href) ? 'page' : undefined}>
                {title}
                {href === '/incidents' && incidents > 0 && <span className="count">{incidents}</span>}
              </Link>
            ))}
          </nav>
          <span className="grow" />
          <Find inputRef={search} go={go} />
          <Live />
          <ZoneButton />
          <ThemeButton />
          <Account />
        </div>
        <Banner />
      </header>
      <main ref={main} id="page" tabIndex={-1} className={isFixed(path) ? 'main fixed' : 'main'}>{children}</main>
      <Help isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  );
}

function ClusterName() {
  const cluster = useCluster();
  return <small className="clip">{cluster.data?.name ?? ' '}</small>;
}

// An id or a name goes to its job, a node's name to its node, anything else searches the jobs.
function Find({ inputRef, go }: { inputRef: React.RefObject<HTMLInputElement | null>; go: (path: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const word = text.trim();
    if (word === '') return;
    setText('');
    inputRef.current?.blur();
    if (/^\d+$/.test(word)) return go(`/jobs/${word}`);
    get<Node>(`/nodes/${encodeURIComponent(word)}`).then(
      () => go(`/nodes/${encodeURIComponent(word)}`),
      () => go(`/jobs?state=all&q=${encodeURIComponent(word)}`),
    );
  };
  return (
    <form className="search" role="search" onSubmit={submit}>
      <input
        ref={inputRef}
        className="input"
        placeholder="Job, or node"
        aria-label="find a job or a node"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {text === '' && <kbd>/</kbd>}
    </form>
  );
}

const liveWords = { live: 'live', connecting: 'joining', lost: 'offline', paused: 'paused', old: 'old facts' };
const liveTitles: Partial<Record<string, string>> = {
  live: 'Changes arrive as they happen',
  lost: 'The stream of events is broken; trying again',
  old: 'The server knows nothing new; trying again',
};

function Live() {
  const stream = useStore(connection);
  const isSilent = useStore(silence) !== null;
  const isStale = useStore(staleSince) !== null;
  const state = isSilent ? 'lost' : isStale ? 'old' : stream;
  return (
    <span className="live" data-state={state} title={liveTitles[state]} role="status">
      <i /> {liveWords[state]}
    </span>
  );
}

function ThemeButton() {
  const theme = useTheme();
  const chosen = useChosenTheme();
  const next = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      className="button quiet small"
      aria-label={`use ${next} colours`}
      title={chosen === 'system' ? 'Follows the system; click to choose' : `Use ${next} colours`}
      onClick={() => setTheme(next)}
    >
      <svg width="1.1em" height="1.1em" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
        <path d="M8 1.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor" />
      </svg>
    </button>
  );
}

// The zone of all times on all pages, named where everybody sees it.
function ZoneButton() {
  const zone = useZone();
  const next = zone === 'utc' ? 'local' : 'utc';
  return (
    <button
      className="button quiet small"
      aria-label={`times are of ${zoneName(zone)}; show them of ${zoneName(next)}`}
      title={`Times are of ${zoneName(zone)}; click for ${zoneName(next)}`}
      onClick={() => setZone(next)}
    >
      {zoneLetters(zone)}
    </button>
  );
}

function leaveOrSayWhyNot(): void {
  signOut().catch((error: unknown) => toast(`You are still signed in: ${(error as Error).message}`, 'failed'));
}

function Account() {
  const me = useWhoAmI();
  const [, go] = useLocation();
  const role = me.data?.role;
  const isSignedIn = useStore(session) !== null;
  return (
    <Menu
      trigger={
        <button className="button quiet small" title="account">
          {me.data?.user ?? '…'}
        </button>
      }
      items={[
        { label: `role ${role ?? ''}`, onSelect: () => undefined, isDisabled: true },
        { label: 'My jobs', onSelect: () => go('/mine') },
        { label: 'My tokens', onSelect: () => go('/account') },
        role === 'admin' || role === 'operator' ? { label: 'Knobs', onSelect: () => go('/knobs') } : null,
        { label: 'System colours', onSelect: () => setTheme('system') },
        isSignedIn ? { label: 'Sign out', onSelect: leaveOrSayWhyNot } : null,
      ]}
    />
  );
}

const tableKeys = [
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['← →', 'on the map: next node; [ and ] its GPUs, space keeps it in view'],
  ['/', 'search'],
  ['?', 'this help'],
] as const;

function Help({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <dl className="facts">
        {Object.entries(goKeys).map(([key, [, title]]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
        {tableKeys.map(([key, title]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
