import { memo, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { lookAfter, spansOf } from '../../../lib/ansi';
import { formatStamp, formatWholeStamp } from '../../../lib/format';
import type { LogBlock, LogLine } from '../../../lib/logWindow';
import { useZone, type Zone, zoneName } from '../../../lib/zone';
import type { Log, LogSession } from './logSession';

interface Props {
  log: Log;
  session: LogSession | null;
  label: string;
  isFollowing: boolean;
  setFollowing: (is: boolean) => void;
  isWrapped: boolean;
  marked: string; // is marked where it stands
  chosen: number | null; // the line that is pointed at
  onSeen: (line: LogLine | null) => void; // the first one in view
  empty: ReactNode;
}

const edge = 1; // pixels: what is less is rounding
const bottomEdge = 4; // that near is at the end
const reach = 1.5; // so many screens before an edge the next part is read

const isSelecting = (box: HTMLElement): boolean => {
  const selection = document.getSelection();
  return selection !== null && !selection.isCollapsed && box.contains(selection.anchorNode);
};

// The lines that are here, in a box of their own. Following moves the box only while the reader is at the
// end and has selected nothing; when lines come or go above, those in view stay where they are.
export function LogLines({ log, session, label, isFollowing, setFollowing, isWrapped, marked, chosen, onSeen, empty }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ line: Element; top: number } | null>(null);
  const placed = useRef(0); // where the box was put last, not by the reader
  const moved = useRef(0); // the last part that was asked for and is shown
  const isTouched = useRef(false); // a finger or the mouse is down: on the scrollbar, or on the text
  const follows = useRef(isFollowing); // known at once, before it is drawn
  follows.current = isFollowing;
  const zone = useZone();
  const isEnd = log.end >= log.size;
  const leave = (): void => {
    if (box.current!.scrollHeight <= box.current!.clientHeight) return; // there is nowhere to go
    follows.current = false;
    setFollowing(false);
  };

  const look = (): void => {
    const element = box.current!;
    const line = firstInView(element);
    anchor.current = line && { line, top: line.getBoundingClientRect().top };
    onSeen(line ? { offset: Number(line.dataset.at), stamp: line.dataset.time ?? '', text: '' } : null);
    const { scrollTop, clientHeight, scrollHeight } = element;
    if (scrollTop < reach * clientHeight && log.start > log.begin) void session?.extend('before');
    if (scrollHeight - scrollTop - clientHeight < reach * clientHeight && !isEnd) void session?.extend('after');
  };
  const put = (top: number): void => {
    box.current!.scrollTop = top;
    placed.current = box.current!.scrollTop;
  };

  useLayoutEffect(() => {
    const element = box.current!;
    const bottom = element.scrollHeight - element.clientHeight;
    const hasLeft = element.scrollTop < Math.min(placed.current, bottom) - edge;
    if (log.shown.move !== moved.current && log.blocks.length > 0) {
      moved.current = log.shown.move;
      placed.current = 0;
      put(log.shown.at === 'end' ? bottom : topOf(element, log.shown.at));
    } else if (follows.current && !hasLeft && !isTouched.current && !isSelecting(element)) put(bottom);
    else if (anchor.current?.line.isConnected) {
      const by = anchor.current.line.getBoundingClientRect().top - anchor.current.top;
      if (Math.abs(by) >= 1) put(element.scrollTop + by);
    }
    look();
  }, [log, isFollowing, isWrapped]);

  // The line that was asked for comes into the middle, once it is here.
  const shownAt = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (chosen === null) shownAt.current = null;
    if (chosen === null || shownAt.current === chosen) return;
    const line = box.current!.querySelector(`[data-at="${chosen}"]`);
    if (!line) return;
    shownAt.current = chosen;
    line.scrollIntoView({ block: 'center', inline: 'nearest' });
    placed.current = box.current!.scrollTop;
    look();
  }, [log, chosen]);

  useEffect(() => {
    const onSelection = (): void => {
      if (!box.current || !session) return;
      session.isHeld = isSelecting(box.current);
      if (session.isHeld) setFollowing(false);
    };
    // Browsers do not say to the box that its scrollbar was let go.
    const release = (): void => {
      isTouched.current = false;
    };
    const releases = ['pointerup', 'pointercancel', 'touchend', 'touchcancel'];
    for (const kind of releases) addEventListener(kind, release, true);
    document.addEventListener('selectionchange', onSelection);
    return () => {
      for (const kind of releases) removeEventListener(kind, release, true);
      document.removeEventListener('selectionchange', onSelection);
    };
  }, [session, setFollowing]);

  const onScroll = (): void => {
    const element = box.current!;
    const by = element.scrollTop - placed.current;
    if (Math.abs(by) > edge) {
      placed.current = element.scrollTop;
      const isAtBottom = element.scrollHeight - element.scrollTop - element.clientHeight <= bottomEdge;
      if (by < 0 && follows.current) leave();
      if (by > 0 && !follows.current && isAtBottom && isEnd && !log.isOver && !isSelecting(element)) {
        isTouched.current = false;
        setFollowing(true);
      }
    }
    look();
  };

  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'PageUp' || event.key === 'ArrowUp') leave();
    if (event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    const isEndKey = event.key === 'End';
    setFollowing(isEndKey);
    if (isEndKey ? isEnd : log.blocks.length > 0 && log.start <= log.begin) put(isEndKey ? box.current!.scrollHeight : 0);
    else void session?.show(isEndKey ? 'end' : { offset: 0 });
  };
  const touch = (): void => {
    isTouched.current = true;
  };

  const looks = looksOf(log.blocks);
  return (
    <div className={isWrapped ? 'log wrapped' : 'log'} ref={box} tabIndex={0} role="log" aria-live="off" aria-label={label} aria-busy={log.isMoving} onScroll={onScroll} onKeyDown={onKeyDown}
      onWheel={(event) => event.deltaY < 0 && leave()} onPointerDown={touch} onTouchStart={touch}
    >
      {log.blocks.length === 0 && log.open === null && empty}
      <div className="log-lines">
        {log.blocks.map((block, i) => (
          <Block key={block.offset} block={block} look={looks[i]!} marked={marked} zone={zone} chosen={chosen !== null && chosen >= block.offset && chosen < block.end ? chosen : null} />
        ))}
        {log.open && <Line line={log.open} look={looks.at(-1)!} marked={marked} zone={zone} isChosen={false} />}
      </div>
    </div>
  );
}

// So far down the line stands, or the first one behind that byte.
function topOf(box: HTMLElement, offset: number): number {
  for (const block of box.querySelectorAll('.log-block')) {
    for (const line of block.children) if (Number((line as HTMLElement).dataset.at) >= offset) return line.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  }
  return 0;
}

function firstInView(box: HTMLElement): HTMLElement | null {
  const top = box.getBoundingClientRect().top + edge; // Firefox puts the box a part of a pixel beside where it was told to
  for (const block of box.querySelectorAll<HTMLElement>('.log-block')) {
    if (block.getBoundingClientRect().bottom <= top) continue;
    for (const line of block.children) if (line.getBoundingClientRect().bottom > top) return line as HTMLElement;
  }
  return null;
}

// The look with which each block begins, and with which what comes behind them does: a colour goes on over lines. The first one
// begins plain, which is right as far as is known.
function looksOf(blocks: readonly LogBlock[]): string[] {
  const looks = [''];
  for (const block of blocks) looks.push(lookAfterBlock(block, looks.at(-1)!));
  return looks;
}

// Blocks that have not changed are the same objects.
const passed = new WeakMap<LogBlock, { before: string; after: string }>();

function lookAfterBlock(block: LogBlock, before: string): string {
  const known = passed.get(block);
  if (known?.before === before) return known.after;
  const after = block.lines.reduce((look, line) => lookAfter(line.text, look), before);
  passed.set(block, { before, after });
  return after;
}

const Block = memo(function Block({ block, look, marked, zone, chosen }: { block: LogBlock; look: string; marked: string; zone: Zone; chosen: number | null }) {
  const looks = [look];
  for (const line of block.lines) looks.push(lookAfter(line.text, looks.at(-1)!));
  return (
    <div className="log-block">
      {block.lines.map((line, i) => (
        <Line key={line.offset} line={line} look={looks[i]!} marked={marked} zone={zone} isChosen={line.offset === chosen} />
      ))}
    </div>
  );
});

const Line = memo(function Line({ line, look, marked, zone, isChosen }: { line: LogLine; look: string; marked: string; zone: Zone; isChosen: boolean }) {
  return (
    <div className="log-line" data-at={line.offset} data-time={line.stamp} data-hit={isChosen || undefined}>
      {line.stamp && (
        <span className="t" title={`${formatWholeStamp(line.stamp)} ${zoneName(zone)}`}>
          {formatStamp(line.stamp)}
        </span>
      )}
      {spansOf(line.text, look).map((span, i) => (
        <span key={i} className={span.style || undefined}>
          {markedText(span.text, marked)}
        </span>
      ))}
    </div>
  );
});

export function markedText(text: string, marked: string): ReactNode {
  if (marked === '') return text;
  const [all, wanted] = [text.toLowerCase(), marked.toLowerCase()];
  const parts: ReactNode[] = [];
  let from = 0;
  for (let at = all.indexOf(wanted); at >= 0 && all.length === text.length; at = all.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + marked.length)}</mark>);
    from = at + marked.length;
  }
  parts.push(text.slice(from));
  return parts;
}
