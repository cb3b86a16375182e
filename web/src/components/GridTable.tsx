import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react';
import { keepLatest, readPlace } from '../lib/place';
import { useNarrow } from '../lib/useNarrow';

export interface Column<T> {
  key: string;
  title: string;
  width: string; // of CSS grid: 6rem, minmax(8rem, 1fr)
  isNumber?: boolean;
  isSortable?: boolean;
  render: (row: T) => ReactNode;
}

// What a phone says of each row below those columns, so that nobody has to scroll sideways for it.
export interface Brief<T> {
  lines: number;
  render: (row: T) => ReactNode;
}

interface Props<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
  renderGroup?: (row: T) => ReactNode | null; // non-null: the row is a group's head
  sort?: { key: string; descending: boolean };
  onSort?: (key: string) => void;
  active: number;
  onActive: (index: number) => void;
  onOpen: (row: T) => void;
  isSelected?: (row: T) => boolean;
  onToggle?: (row: T) => void;
  onEnd?: () => void; // the last rows came into view
  first: readonly string[]; // the columns that a phone shows without scrolling sideways
  brief: Brief<T>;
  empty: ReactNode;
}

const rowRem = 2;
const briefLineRem = 1.2;
const gapRem = 0.75;

// How narrow the columns may become together; a narrower window scrolls inside the table's box.
const leastRem = (columns: readonly { width: string }[]): number =>
  columns.reduce((sum, column) => sum + Number.parseFloat(/[\d.]+(?=rem)/.exec(column.width)?.[0] ?? '0') + gapRem, gapRem);

// On a phone what people look for comes first, in this order, and the rest after it.
function inOrder<T>(columns: readonly Column<T>[], first: readonly string[]): Column<T>[] {
  const place = ({ key }: Column<T>): number => (first.includes(key) ? first.indexOf(key) : first.length);
  return [...columns].sort((a, b) => place(a) - place(b));
}

// Made apart, so that what waits to be written keeps no rows.
const topOf = (box: RefObject<HTMLElement | null>) => () => box.current?.scrollTop;

// A table that draws only the rows in view, so that 100,000 cost what 40 do. Keys: j k arrows, Home End,
// Enter opens, x selects.
export function GridTable<T>(props: Props<T>) {
  const { rows, active, onActive, onEnd, first, brief } = props;
  const isNarrow = useNarrow();
  const columns = useMemo(() => (isNarrow ? inOrder(props.columns, first) : props.columns), [isNarrow, props.columns, first]);
  const body = useRef<HTMLDivElement>(null);
  const place = `scroll of ${props.label}`;
  const onScroll = (): void => keepLatest(place, topOf(body));
  const heightRem = rowRem + (isNarrow ? brief.lines * briefLineRem + 0.2 : 0);
  const rowHeight = heightRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => body.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialOffset: () => readPlace(place, 0),
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (lastShown >= rows.length - 50) onEnd?.();
  }, [lastShown, rows.length, onEnd]);

  const least = { '--table-min': `${leastRem(columns)}rem`, '--row': `${heightRem}rem` } as React.CSSProperties;
  const template = { gridTemplateColumns: columns.map((column) => column.width).join(' ') };
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    onActive(index);
    virtual.scrollToIndex(index, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[active];
    if (event.key === 'j' || event.key === 'ArrowDown') move(active + 1);
    else if (event.key === 'k' || event.key === 'ArrowUp') move(active - 1);
    else if (event.key === 'Home') move(0);
    else if (event.key === 'End') move(rows.length - 1);
    else if (event.key === 'PageDown') move(active + 20);
    else if (event.key === 'PageUp') move(active - 20);
    else if (event.key === 'Enter' && row !== undefined) props.onOpen(row);
    else if (event.key === 'x' && row !== undefined) props.onToggle?.(row);
    else return;
    event.preventDefault();
  };

  return (
    <div className="grid" role="grid" aria-label={props.label} aria-rowcount={rows.length} style={least}>
      <Head {...props} columns={columns} template={template} />
      <div className="grid-body" ref={body} role="rowgroup" tabIndex={0} aria-label={`rows of ${props.label}`} onKeyDown={onKeyDown} onScroll={onScroll} data-rows>
        {rows.length === 0 && (
          <div role="row">
            <div role="gridcell">{props.empty}</div>
          </div>
        )}
        <div role="presentation" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const group = props.renderGroup?.(row) ?? null;
            return (
              <div
                key={props.rowKey(row)}
                role="row"
                aria-rowindex={item.index + 1}
                aria-selected={props.isSelected?.(row) ?? false}
                className={group ? 'grid-row group' : 'grid-row'}
                style={{ ...template, transform: `translateY(${item.start}px)` }}
                data-active={item.index === active || undefined}
                data-selected={props.isSelected?.(row) || undefined}
                onClick={() => (group ? props.onOpen(row) : onActive(item.index))}
                onDoubleClick={() => !group && props.onOpen(row)}
              >
                {(group && <span role="gridcell" className="row" style={{ gap: 'var(--s3)' }}>{group}</span>) ??
                  columns.map((column) => (
                    <span key={column.key} role="gridcell" className={column.isNumber ? 'num' : ''}>
                      {column.render(row)}
                    </span>
                  ))}
                {!group && isNarrow && <span role="gridcell" className="brief">{brief.render(row)}</span>}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head<T>({ columns, sort, onSort, template }: Props<T> & { template: React.CSSProperties }) {
  return (
    <div className="grid-head" role="row" style={template}>
      {columns.map((column) => {
        const isSorted = sort?.key === column.key;
        const order = !isSorted ? 'none' : sort.descending ? 'descending' : 'ascending';
        return (
          <span key={column.key} role="columnheader" aria-sort={order} className={column.isNumber ? 'num' : ''}>
            {column.isSortable && onSort ? (
              <button onClick={() => onSort(column.key)}>
                {column.title}
                {isSorted && <span aria-hidden="true">{sort.descending ? '↓' : '↑'}</span>}
              </button>
            ) : (
              column.title || <span className="sr">{column.key}</span>
            )}
          </span>
        );
      })}
    </div>
  );
}
