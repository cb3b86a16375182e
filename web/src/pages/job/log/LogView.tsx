import { type FormEvent, type KeyboardEvent, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { logPath } from '../../../api/logs';
import type { Attempt, LogLine as FoundLine } from '../../../api/types';
import { part } from '../../../components/CodeBoundary';
import { Panel } from '../../../components/Panel';
import { Empty, Failure } from '../../../components/states';
import { formatBytes, formatTime, formatWholeStamp } from '../../../lib/format';
import type { LogLine } from '../../../lib/logWindow';
import { fromInput, useZone, zoneName } from '../../../lib/zone';
import { LogLines } from './LogLines';
import type { Log } from './logSession';
import { useLog } from './useLog';
import { useSearch } from './useSearch';

const Found = part(() => import('./Found'));

interface Props {
  job: string;
  attempts: readonly Attempt[];
  attempt: number;
  rank: number;
  at: number | null; // the line that the address names
  onPick: (attempt: number, rank: number, at?: number) => void;
}

function isOver(attempts: readonly Attempt[], attempt: number, rank: number): boolean {
  const found = attempts.find((each) => each.attempt === attempt);
  const at = found?.ranks.find((each) => each.rank === rank);
  return found === undefined || found.ended_at !== null || (at !== undefined && at.exit_code !== null);
}

// What stands beside the title: never more than is known.
function said(log: Log): ReactNode {
  const kept = log.begin > 0 ? `, the first ${formatBytes(log.begin)} are not kept` : '';
  const size = `${formatBytes(log.size)}${kept}`;
  switch (log.state) {
    case 'loading':
      return 'no line yet';
    case 'following':
      return (
        <>
          <span>live</span>, {size}
        </>
      );
    case 'paused':
      return 'paused while hidden';
    case 'elsewhere':
      return 'not followed: other pages follow theirs. Click here to go on';
    case 'asking':
      return 'asking for more';
    case 'lost':
      return 'connection lost, trying again';
    case 'ended':
      if (log.error) return log.size > 0 ? `not all is known; ${size}` : 'not known';
      if (log.until !== null) return `${size}, up to ${formatTime(log.until, Date.now())}; what came then is not known`;
      return log.begin > 0 ? `ended, ${size}` : `complete, ${size}`;
  }
}

function nothing({ state, until }: Log): string {
  if (state === 'ended' && until === null) return 'This rank has written nothing';
  return state === 'following' ? 'This rank has written nothing yet' : 'The log is not known now';
}

const wrapKey = 'hai.log.wrap';
type Scope = 'rank' | 'attempt' | 'all';

export default function LogView({ job, attempts, attempt, rank, at, onPick }: Props) {
  const ranks = attempts.find((each) => each.attempt === attempt)?.ranks ?? [];
  const [isFollowing, setFollowing] = useState(at === null);
  const { log, session } = useLog(job, attempt, rank, isOver(attempts, attempt, rank), at === null ? 'end' : { offset: at });
  const [isWrapped, setWrapped] = useState(() => localStorage.getItem(wrapKey) === 'yes');
  const [seen, setSeen] = useState<LogLine | null>(null);
  if (session) session.isAtEnd = isFollowing;

  // A line that is not here is read, in this log or in another one.
  const { start, end } = log;
  useEffect(() => {
    if (at === null) return;
    setFollowing(false);
    if (session && end > 0 && (at < start || at >= end)) void session.show({ offset: at });
    // Only when another line is asked for.
  }, [session, at, end > 0]);

  const follow = (is: boolean): void => {
    setFollowing(is);
    if (is && log.end < log.size) void session?.show('end');
  };
  const go = (target: 'begin' | 'end'): void => {
    setFollowing(target === 'end');
    void session?.show(target === 'end' ? 'end' : { offset: 0 });
  };
  const wrap = (): void => {
    localStorage.setItem(wrapKey, isWrapped ? 'no' : 'yes');
    setWrapped(!isWrapped);
  };
  const onSeen = useCallback((line: LogLine | null) => setSeen((before) => (before?.offset === line?.offset ? before : line)), []);

  const [text, setText] = useState('');
  const [scope, setScope] = useState<Scope>(ranks.length > 1 ? 'attempt' : 'rank');
  const { search, start: begin, goOn, stop, forget } = useSearch(job);
  const [chosen, setChosen] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const choose = (index: number): void => {
    const found = search?.found ?? [];
    if (found.length === 0) return;
    const next = (index + found.length) % found.length;
    setChosen(next);
    setFollowing(false);
    const line: FoundLine = found[next]!;
    onPick(line.attempt, line.rank, line.offset);
  };
  const [asked, setAsked] = useState('');
  const question = `${scope} ${text}`;
  const isAsked = search !== null && asked === question;
  const ask = (): void => {
    setChosen(-1);
    setAsked(question);
    begin({ text, matchCase: false, attempt: scope === 'all' ? null : attempt, rank: scope === 'rank' ? rank : null });
  };
  const onSearchKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && text !== '') {
      event.preventDefault();
      if (isAsked) choose(chosen + (event.shiftKey ? -1 : 1));
      else ask();
    }
    if (event.key === 'Escape') {
      setText('');
      forget();
    }
  };
  return (
    <Panel className="flush log-panel" title="Log" aside={said(log)}>
      <div className="log-bar">
        <Pick title="attempt" value={attempt} options={attempts.map((each) => each.attempt)} onPick={(value) => (setFollowing(true), onPick(value, 0))} />
        <Pick title="rank" value={rank} options={ranks.map((each) => each.rank)} onPick={(value) => (setFollowing(true), onPick(attempt, value))} />
        <span className="grow" />
        <button className="button small" aria-pressed={isWrapped} onClick={wrap}>
          Wrap
        </button>
        <Download which={{ job, attempt, rank }} />
        <button className="button small" aria-pressed={isFollowing} onClick={() => follow(!isFollowing)}>
          Follow
        </button>
      </div>
      <div className="log-bar">
        <input
          ref={input}
          className="input small"
          style={{ flex: '1 1 10rem' }}
          placeholder="Search the log"
          aria-label="search the log"
          data-search
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onSearchKey}
        />
        <select className="select small" style={{ width: 'auto' }} aria-label="search in" value={scope} onChange={(event) => setScope(event.target.value as Scope)}>
          <option value="rank">this rank</option>
          <option value="attempt">all ranks</option>
          <option value="all">all ranks and attempts</option>
        </select>
        <button className="button small" disabled={text === ''} onClick={ask}>
          Search
        </button>
        {search !== null && search.found.length > 0 && (
          <>
            <span className="dim">{chosen < 0 ? '' : `${chosen + 1} of ${search.found.length}`}</span>
            <button className="button small" onClick={() => choose(chosen - 1)} aria-label="previous match">↑</button>
            <button className="button small" onClick={() => choose(chosen + 1)} aria-label="next match">↓</button>
          </>
        )}
      </div>
      {search !== null && (
        <Suspense fallback={null}>
          <Found search={search} chosen={chosen} onChoose={choose} onStop={stop} onGoOn={goOn} onClose={forget} />
        </Suspense>
      )}
      {log.error && <Failure error={log.error} onRetry={() => void session?.show('end')} />}
      {log.source && (
        <p className="note" style={{ margin: '0 var(--s3) var(--s2)' }}>
          <bdi>{log.source}</bdi>
        </p>
      )}
      <LogLines
        key={`${attempt}.${rank}`}
        log={log}
        session={session}
        label={`log of rank ${rank}`}
        isFollowing={isFollowing}
        setFollowing={setFollowing}
        isWrapped={isWrapped}
        marked={text}
        chosen={at}
        onSeen={onSeen}
        empty={!log.error && <Empty title={nothing(log)} />}
      />
      <Place log={log} seen={seen} onGo={go} onOffset={(offset) => (setFollowing(false), void session?.show({ offset }))} onTime={(since) => (setFollowing(false), void session?.show({ since }))} />
    </Panel>
  );
}

function Download({ which }: { which: { job: string; attempt: number; rank: number } }) {
  const name = `job-${which.job}-attempt-${which.attempt}-rank-${which.rank}.log`;
  return (
    <>
      <a className="button small" href={logPath(which)} download={name} title="the whole log of this rank">
        Download
      </a>
      <a className="button small" href={`${logPath(which)}&gzip=true`} download={`${name}.gz`} aria-label="download compressed, .gz">
        .gz
      </a>
    </>
  );
}

interface PlaceProps {
  log: Log;
  seen: LogLine | null;
  onGo: (target: 'begin' | 'end') => void;
  onOffset: (offset: number) => void;
  onTime: (since: string) => void;
}

// Where in the whole log the lines in view stand, and the ways to other parts of it.
function Place({ log, seen, onGo, onOffset, onTime }: PlaceProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [time, setTime] = useState('');
  const zone = useZone();
  const at = dragged ?? Math.min(seen?.offset ?? log.size, log.size);
  const where = `${formatBytes(at)} of ${formatBytes(log.size)}`;
  const leave = (): void => {
    if (dragged !== null) onOffset(dragged);
    setDragged(null);
  };
  const goToTime = (event: FormEvent): void => {
    event.preventDefault();
    if (time !== '') onTime(fromInput(time).toISOString());
  };
  return (
    <div className="log-bar log-place">
      <button className="button small" onClick={() => onGo('begin')}>
        Beginning
      </button>
      <input
        type="range"
        className="log-range"
        aria-label="place in the log"
        aria-valuetext={where}
        min={log.begin}
        max={Math.max(log.size, log.begin + 1)}
        value={at}
        onChange={(event) => setDragged(Number(event.target.value))}
        onPointerUp={leave}
        onKeyUp={leave}
        onBlur={leave}
      />
      <button className="button small" onClick={() => onGo('end')}>
        End
      </button>
      <span className="dim num">
        {where}
        {seen?.stamp && dragged === null && `, ${formatWholeStamp(seen.stamp).slice(0, 19)} ${zoneName(zone)}`}
      </span>
      <form className="row" onSubmit={goToTime}>
        <input type="datetime-local" step="1" className="input small" style={{ width: '13rem' }} aria-label={`time to go to, ${zoneName(zone)}`} value={time} onChange={(event) => setTime(event.target.value)} />
        <button className="button small">Go</button>
      </form>
    </div>
  );
}

function Pick({ title, value, options, onPick }: { title: string; value: number; options: number[]; onPick: (value: number) => void }) {
  return (
    <label className="row dim" style={{ fontSize: 'var(--text-s)' }}>
      {title}
      <select className="select small" aria-label={title} style={{ width: 'auto' }} value={value} onChange={(event) => onPick(Number(event.target.value))}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}
