import { formatWord } from '../lib/format';

// One look per word of the design, everywhere: a tone and a shape, so that colour is never alone.
type Shape = 'dot' | 'ring' | 'half' | 'check' | 'cross' | 'square' | 'bars' | 'triangle' | 'lock';

const looks: Record<string, [tone: string, shape: Shape]> = {
  queued: ['queued', 'ring'],
  running: ['running', 'dot'],
  suspended: ['suspended', 'half'],
  succeeded: ['succeeded', 'check'],
  failed: ['failed', 'cross'],
  stopped: ['stopped', 'square'],
  held: ['held', 'bars'],
  placed: ['queued', 'half'],
  starting: ['queued', 'half'],
  suspending: ['suspended', 'half'],
  lost: ['lost', 'cross'],
  not_heard: ['lost', 'triangle'],
  up: ['running', 'dot'],
  suspect: ['suspended', 'triangle'],
  down: ['failed', 'cross'],
  open: ['running', 'ring'],
  cordoned: ['suspended', 'lock'],
  draining: ['suspended', 'half'],
  drained: ['stopped', 'square'],
  ok: ['running', 'check'],
  warn: ['suspended', 'triangle'],
  fail: ['failed', 'cross'],
  unknown: ['stopped', 'ring'],
};

export const toneOf = (word: string): string => `var(--${looks[word]?.[0] ?? 'stopped'})`;

function Glyph({ shape }: { shape: Shape }) {
  const line = { fill: 'none', stroke: 'currentColor', strokeWidth: 2 } as const;
  return (
    <svg viewBox="0 0 12 12" aria-hidden="true">
      {shape === 'dot' && <circle cx="6" cy="6" r="4.5" fill="currentColor" />}
      {shape === 'ring' && <circle cx="6" cy="6" r="4" {...line} />}
      {shape === 'half' && (
        <>
          <circle cx="6" cy="6" r="4.2" {...line} strokeWidth={1.5} />
          <path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z" fill="currentColor" />
        </>
      )}
      {shape === 'check' && <path d="M2 6.5 5 9.5 10 3" {...line} />}
      {shape === 'cross' && <path d="M2.5 2.5l7 7m0-7-7 7" {...line} />}
      {shape === 'square' && <rect x="2" y="2" width="8" height="8" rx="1" fill="currentColor" />}
      {shape === 'bars' && <path d="M4 2v8m4-8v8" {...line} />}
      {shape === 'triangle' && <path d="M6 1.5 11 10.5H1z" fill="currentColor" />}
      {shape === 'lock' && <path d="M2 5.5h8v5H2zM4 5.5V4a2 2 0 0 1 4 0v1.5" {...line} strokeWidth={1.5} />}
    </svg>
  );
}

export function Badge({ word, boxed = false }: { word: string; boxed?: boolean }) {
  const look = looks[word];
  return (
    <span
      className={boxed ? 'badge boxed' : 'badge'}
      style={{ '--tone': toneOf(word) } as React.CSSProperties}
    >
      <Glyph shape={look?.[1] ?? 'ring'} />
      {formatWord(word)}
    </span>
  );
}
