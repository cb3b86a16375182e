import { useEffect, useRef } from 'react';
import { Failure } from '../../../components/states';
import { plainText } from '../../../lib/ansi';
import { formatBytes, formatCount, formatPlural, formatWholeStamp } from '../../../lib/format';
import { markedText } from './LogLines';
import type { Search } from './useSearch';

interface Props {
  search: Search;
  chosen: number; // index in what was found; -1: none
  onChoose: (index: number) => void;
  onStop: () => void;
  onGoOn: () => void;
  onClose: () => void;
}

const shownMax = 500; // around the chosen one

// Never "none" before all was looked through.
function verdict({ state, found, bytes, logs, logsDone, unread }: Search): string {
  const lines = found.length === 0 ? 'no line' : formatPlural(found.length, 'line');
  const where = `${formatPlural(logs, 'log')}, ${formatBytes(bytes)}`;
  switch (state) {
    case 'running':
      return logs === 0 ? 'searching…' : `searching: ${lines} so far, ${formatCount(logsDone)} of ${where}`;
    case 'waiting':
      return `the server is away, going on when it is back: ${lines} so far`;
    case 'stopped':
      return `stopped: ${lines} in ${formatCount(logsDone)} of ${where}`;
    case 'full':
      return `the first ${lines}, in ${formatCount(logsDone)} of ${where}`;
    case 'done':
      return unread.length > 0 ? `${lines} in what can be read of ${where}` : `${lines} in ${where}`;
  }
}

export default function Found({ search, chosen, onChoose, onStop, onGoOn, onClose }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const from = Math.max(0, Math.min(chosen - shownMax / 2, search.found.length - shownMax));
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div className="found">
      <div className="row wrap">
        <span role="status">{verdict(search)}</span>
        <span className="grow" />
        {search.state === 'running' || search.state === 'waiting' ? (
          <button className="button small" onClick={onStop}>
            Stop searching
          </button>
        ) : (
          <>
            {search.state !== 'done' && (
              <button className="button small" onClick={onGoOn}>
                Go on
              </button>
            )}
            <button className="button small quiet" onClick={onClose}>
              Close
            </button>
          </>
        )}
      </div>
      {search.error && <Failure error={search.error} />}
      {search.unread.length > 0 && (
        <details>
          <summary>{formatPlural(search.unread.length, 'log')} could not be read</summary>
          <ul className="plain-list">
            {search.unread.slice(0, 100).map((log) => (
              <li key={`${log.attempt}.${log.rank}`}>
                attempt {log.attempt}, rank {log.rank}: <bdi>{log.reason}</bdi>
              </li>
            ))}
          </ul>
        </details>
      )}
      {search.found.length > 0 && (
        <ol className="found-lines" ref={list} aria-label="lines found">
          {search.found.slice(from, from + shownMax).map((line, i) => (
            <li key={`${line.attempt}.${line.rank}.${line.offset}`}>
              <button onClick={() => onChoose(from + i)} aria-current={from + i === chosen || undefined}>
                <span className="dim">
                  {line.attempt}.{line.rank} {line.at && formatWholeStamp(line.at)}
                </span>{' '}
                {markedText(plainText(line.text), search.query.text)}
              </button>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
