import { Component, type ComponentType, lazy, type ReactNode, useEffect, useState } from 'react';
import { Empty, Failure } from './states';

class MissingCode extends Error {}

// A part of the page whose code is loaded when it is first shown, inside a CodeBoundary.
const loadMs = 10_000; // a server that is frozen keeps the connection, and would be waited for for ever
const late = (): Promise<never> => new Promise((_, reject) => setTimeout(() => reject(new Error(`no answer within ${loadMs / 1000} s`)), loadMs));

export const part = <P,>(load: () => Promise<{ default: ComponentType<P> }>) =>
  lazy(() =>
    Promise.race([load(), late()]).catch((cause: unknown) => {
      throw new MissingCode('code that could not be loaded', { cause });
    }),
  );

// Instead of an empty page, when a part's code is not to be had or fails.
export class CodeBoundary extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return error instanceof MissingCode ? <Missing /> : <Broken error={error} />;
  }
}

function Broken({ error }: { error: Error }) {
  return (
    <div className="stack">
      <h1>This page has failed</h1>
      <Failure error={error} />
      <p>
        <button className="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </p>
    </div>
  );
}

const askMs = 2_000;
const reloadedKey = 'hai.reloaded';
const onceMs = 60_000;

const wasReloaded = (): boolean => Date.now() - Number(sessionStorage.getItem(reloadedKey) ?? 0) < onceMs;

function reload(): void {
  sessionStorage.setItem(reloadedKey, String(Date.now()));
  location.reload();
}

async function isServerThere(): Promise<boolean> {
  try {
    return (await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(askMs) })).ok;
  } catch {
    return false;
  }
}

const waitingNote = 'The server is away, or has been upgraded. This page loads itself anew when the server answers.';
const reloadedNote = 'It has just been loaded anew, and the server still lacks a file of it.';

// The server is away, or it has been upgraded and serves other files. As soon as it answers the page
// loads itself anew, once; a second time only when asked to, so that it cannot go round and round.
function Missing() {
  const [note, setNote] = useState(() => (wasReloaded() ? reloadedNote : waitingNote));
  useEffect(() => {
    if (wasReloaded()) return;
    let isAsking = false;
    const timer = setInterval(() => {
      if (isAsking) return;
      isAsking = true;
      void isServerThere().then((isThere) => {
        isAsking = false;
        if (isThere) reload();
      });
    }, askMs);
    return () => clearInterval(timer);
  }, []);
  const retry = async (): Promise<void> => {
    setNote('Asking…');
    if (await isServerThere()) reload();
    else setNote('The server does not answer yet.');
  };
  return (
    <>
      <h1 className="sr">Not loaded</h1>
      <Empty title="This part of the dashboard could not be loaded">
        <span role="status">{note}</span>
        <button className="button" onClick={() => void retry()}>
          Try again
        </button>
      </Empty>
    </>
  );
}
