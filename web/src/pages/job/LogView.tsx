import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Attempt } from '../../api/types';
import { Panel } from '../../components/Panel';
import { Empty, Failure } from '../../components/states';
import { formatCount, formatPlural, formatTime } from '../../lib/format';
import { findLines, splitStamp } from '../../lib/logBuffer';
import type { Log } from './logReader';
import { useLog } from './useLog';

interface Props {
  job: string;
  attempts: readonly Attempt[];
  attempt: number;
  rank: number;
  onPick: (attempt: number, rank: number) => void;
}

function isOver(attempts: readonly Attempt[], attempt: number, rank: number): boolean {
  const found = attempts.find((each) => each.attempt === attempt);
  const at = found?.ranks.find((each) => each.rank === rank);
  return found === undefined || found.ended_at !== null || (at !== undefined && at.exit_code !== null);
}

// What stands beside the title: never more than is known.
function said(log: Log): string {
  const count = formatPlural(log.lines.length, 'line');
  switch (log.state) {
    case 'loading':
      return 'no line yet';
    case 'following':
      return 'live';
    case 'paused':
      return 'paused while hidden';
    case 'elsewhere':
      return 'not followed: other pages follow theirs. Click here to go on';
    case 'asking':
      return 'asking for more';
    case 'lost':
      return 'connection lost, trying again';
    case 'ended':
      if (log.error) return log.lines.length > 0 ? `not all is known; ${count}` : 'not known';
      if (log.until !== null) return `${count} up to ${formatTime(log.until, Date.now())}; what came then is not known`;
      return log.isWhole ? `complete, ${count}` : `ended; its last ${count}`;
  }
}

function nothing({ state, until }: Log): string {
  if (state === 'ended' && until === null) return 'This rank has written nothing';
  return state === 'following' ? 'This rank has written nothing yet' : 'The log is not known now';
}

export function LogView({ job, attempts, attempt, rank, onPick }: Props) {
  const ranks = attempts.find((each) => each.attempt === attempt)?.ranks ?? [];
  const log = useLog(job, attempt, rank, isOver(attempts, attempt, rank));
  const [text, setText] = useState('');
  const [hit, setHit] = useState(0);
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  const hits = useMemo(() => findLines(log.lines, text), [log.lines, text]);
  const lineHeight = 1.45 * 0.8571 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const virtual = useVirtualizer({
    count: log.lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 20,
  });
  useEffect(() => {
    if (isFollowing && log.lines.length > 0) virtual.scrollToIndex(log.lines.length - 1, { align: 'end' });
  }, [isFollowing, log.lines.length, virtual]);

  const goTo = (index: number): void => {
    if (hits.length === 0) return;
    const next = (index + hits.length) % hits.length;
    setHit(next);
    setFollowing(false);
    virtual.scrollToIndex(hits[next]!, { align: 'center' });
  };
  const onSearchKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') goTo(hit + (event.shiftKey ? -1 : 1));
    if (event.key === 'Escape') setText('');
  };
  return (
    <Panel
      className="flush"
      title="Log"
      aside={said(log)}
    >
      <div className="row wrap" style={{ padding: '0 var(--s3) var(--s2)' }}>
        <Pick title="attempt" value={attempt} options={attempts.map((each) => each.attempt)} onPick={(value) => onPick(value, 0)} />
        <Pick title="rank" value={rank} options={ranks.map((each) => each.rank)} onPick={(value) => onPick(attempt, value)} />
        <input
          className="input small"
          style={{ width: '14rem' }}
          placeholder="Search the log"
          aria-label="search the log"
          data-search
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setHit(0);
          }}
          onKeyDown={onSearchKey}
        />
        {text !== '' && (
          <>
            <span className="dim">{hits.length === 0 ? (log.isWhole && log.until === null && !log.error ? 'none' : 'none in these lines') : `${Math.min(hit + 1, hits.length)} of ${formatCount(hits.length)}`}</span>
            <button className="button small" disabled={hits.length === 0} onClick={() => goTo(hit - 1)} aria-label="previous match">↑</button>
            <button className="button small" disabled={hits.length === 0} onClick={() => goTo(hit + 1)} aria-label="next match">↓</button>
          </>
        )}
        <span className="grow" />
        <button className="button small" aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          Follow
        </button>
      </div>
      {log.error && <Failure error={log.error} />}
      {log.source && (
        <p className="note" style={{ margin: '0 var(--s3) var(--s2)' }}>
          <bdi>{log.source}</bdi>
        </p>
      )}
      <div
        className="log"
        ref={box}
        tabIndex={0}
        role="log"
        aria-label={`log of rank ${rank}`}
        onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
      >
        {log.lines.length === 0 && !log.error && <Empty title={nothing(log)} />}
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => (
            <Line key={item.key} top={item.start} line={log.lines[item.index] ?? ''} text={text} isHit={hits[hit] === item.index && text !== ''} />
          ))}
        </div>
      </div>
    </Panel>
  );
}

function Line({ top, line, text, isHit }: { top: number; line: string; text: string; isHit: boolean }) {
  const [stamp, rest] = splitStamp(line);
  return (
    <div className="log-line" style={{ transform: `translateY(${top}px)` }} data-hit={isHit || undefined}>
      {stamp && (
        <span className="t" title={stamp}>
          {stamp.slice(11, 23)}
        </span>
      )}
      {marked(rest, text)}
    </div>
  );
}

function marked(line: string, text: string): React.ReactNode {
  if (text === '') return line;
  const at = line.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return line;
  return (
    <>
      {line.slice(0, at)}
      <mark>{line.slice(at, at + text.length)}</mark>
      {marked(line.slice(at + text.length), text)}
    </>
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
