import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useAttempts, useJob, useWhoAmI } from '../api/queries';
import { type OpenShell, openShell } from '../api/shell';
import type { Job } from '../api/types';
import { useTheme } from '../app/theme';
import { Badge } from '../components/Badge';
import { Await, Empty } from '../components/states';
import { useTitle } from '../lib/useTitle';
import { stateWord } from './jobs/columns';

type State = { word: 'opens' } | { word: 'open'; node: string } | { word: 'ended'; exitCode: number } | { word: 'failed'; error: string };

// A terminal in a rank of a running job, as `hai shell JOB` gives it.
export default function ShellPage({ id }: { id: string }) {
  const job = useJob(id);
  useTitle(job.data ? `Shell in ${job.data.name}` : `Shell in job ${id}`);
  return (
    <>
      {!job.data && <h1 className="sr">Shell in job {id}</h1>}
      <Await answer={job} lines={8}>
        {(data) => <Loaded job={data} />}
      </Await>
    </>
  );
}

function Loaded({ job }: { job: Job }) {
  const id = String(job.id);
  const me = useWhoAmI().data;
  const attempts = useAttempts(id);
  const [, go] = useLocation();
  const rank = Number(new URLSearchParams(useSearch()).get('rank') ?? 0);
  const [state, setState] = useState<State>({ word: 'opens' });
  const [times, setTimes] = useState(1);
  const ranks = attempts.data?.[0]?.ranks ?? [];
  const again = (): void => {
    setState({ word: 'opens' });
    setTimes(times + 1);
  };
  const isAllowed = me?.user === job.user;
  return (
    <div className="shell-page">
      <div className="page-head">
        <h1>
          Shell in <span className="dim mono">{job.id}</span> <Link href={`/jobs/${job.id}`}><bdi>{job.name}</bdi></Link>
        </h1>
        <Badge word={stateWord(job)} boxed />
        {ranks.length > 1 && (
          <label className="row">
            rank
            <select className="select small" value={rank} onChange={(event) => { again(); go(`/jobs/${id}/shell?rank=${event.target.value}`, { replace: true }); }}>
              {ranks.map((each) => (
                <option key={each.rank} value={each.rank}>
                  {each.rank} on {each.node}
                </option>
              ))}
            </select>
          </label>
        )}
        <span className="grow" />
        <span className={state.word === 'failed' ? 'failure' : 'dim'} role="status">
          {describe(state)}
        </span>
        {(state.word === 'ended' || state.word === 'failed') && (
          <button className="button" onClick={again}>
            Open again
          </button>
        )}
      </div>
      {!me ? null : isAllowed ? (
        <Screen key={`${rank} ${times}`} job={id} rank={rank} onState={setState} />
      ) : (
        <Empty title={`The job is ${job.user}'s: nobody else gets into it`} />
      )}
    </div>
  );
}

function describe(state: State): string {
  switch (state.word) {
    case 'opens':
      return 'opens…';
    case 'open':
      return `on ${state.node}`;
    case 'ended':
      return `ended, exit code ${state.exitCode}`;
    case 'failed':
      return state.error;
  }
}

// As the page has them. Programs' own colours are xterm's, made darker or lighter where they could not be read.
const contrast = 4.5;
function colours() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement('span');
  document.body.append(probe);
  const value = (name: string): string => {
    probe.style.color = style.getPropertyValue(name);
    return getComputedStyle(probe).color;
  };
  const made = {
    background: value('--log-paper'),
    foreground: value('--ink'),
    cursor: value('--accent'),
    selectionBackground: value('--accent-wash'),
  };
  probe.remove();
  return made;
}

function Screen({ job, rank, onState }: { job: string; rank: number; onState: (state: State) => void }) {
  const place = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal>(null);
  const theme = useTheme();
  useEffect(() => {
    if (terminal.current) terminal.current.options.theme = colours();
  }, [theme]);
  useEffect(() => {
    const font = getComputedStyle(document.documentElement).getPropertyValue('--mono');
    const made = new Terminal({ fontFamily: font, fontSize: 13, cursorBlink: true, scrollback: 10_000, minimumContrastRatio: contrast, theme: colours() });
    terminal.current = made;
    const fit = new FitAddon();
    made.loadAddon(fit);
    made.open(place.current!);
    fit.fit();
    let shell: OpenShell | null = openShell(job, rank, { rows: made.rows, columns: made.cols }, {
      onOutput: (bytes, shown) => made.write(bytes, shown),
      onStarted: (node) => onState({ word: 'open', node }),
      onEnd: (end) => {
        shell = null;
        made.options.cursorBlink = false;
        made.options.disableStdin = true;
        onState('exitCode' in end ? { word: 'ended', exitCode: end.exitCode } : { word: 'failed', error: end.error });
      },
    });
    made.onData((text) => shell?.type(text));
    made.onBinary((text) => shell?.type(Uint8Array.from(text, (each) => each.charCodeAt(0))));
    made.onResize(({ rows, cols }) => shell?.resize(rows, cols));
    const watch = new ResizeObserver(() => fit.fit());
    watch.observe(place.current!);
    made.focus();
    return () => {
      watch.disconnect();
      shell?.close();
      made.dispose();
      terminal.current = null;
    };
  }, [job, rank, onState]);
  return <div className="shell-screen" ref={place} data-testid="terminal" />;
}
