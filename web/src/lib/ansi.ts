// A line of a log as a terminal would show it: colours, and what carriage returns have written over.

interface Span {
  text: string;
  style: string; // classes: "fg1 bold"; '' = plain
}

const escape = '\u001b';

// CSI … letter, OSC … BEL or ESC \, or ESC and one letter.
function endOfEscape(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === '[') {
    let end = at + 2;
    while (end < text.length && !/[@-~]/.test(text[end]!)) end += 1;
    return Math.min(end + 1, text.length);
  }
  if (kind === ']') {
    const bell = text.indexOf('\u0007', at);
    const string = text.indexOf(`${escape}\\`, at + 2);
    const ends = [bell < 0 ? Infinity : bell + 1, string < 0 ? Infinity : string + 2];
    return Math.min(...ends, text.length);
  }
  return Math.min(at + 2, text.length);
}

interface Cell {
  letter: string;
  style: string;
}

// The line in pieces of one look each: what comes behind a carriage return stands over what was before it, as "  1%|\r100%|".
// `before`: the look with which the line begins, because a colour goes on until it is changed. Escape sequences that are no
// colours and erase nothing are left out.
export function spansOf(line: string, before = ''): Span[] {
  if (!line.includes(escape) && !line.includes('\r')) return [{ text: line, style: before }];
  const look = new Look(before);
  let cells: Cell[] = [];
  let column = 0;
  for (let at = 0; at < line.length; ) {
    if (line[at] === escape) {
      const after = endOfEscape(line, at);
      const sequence = line.slice(at, after);
      look.read(sequence);
      cells = erased(cells, column, sequence);
      at = after;
      continue;
    }
    const letter = String.fromCodePoint(line.codePointAt(at)!);
    at += letter.length;
    if (letter === '\r') {
      column = 0;
      continue;
    }
    while (cells.length < column) cells.push({ letter: ' ', style: '' });
    cells[column] = { letter, style: look.style() };
    column += 1;
  }
  return joined(cells);
}

// ESC [ K erases to the end of the line, with 1 to its beginning, with 2 all of it.
function erased(cells: Cell[], column: number, sequence: string): Cell[] {
  const kind = /^\u001b\[([012]?)K$/.exec(sequence)?.[1];
  if (kind === undefined) return cells;
  if (kind === '2') return [];
  return kind === '1' ? cells.map((cell, i) => (i <= column ? { letter: ' ', style: '' } : cell)) : cells.slice(0, column);
}

function joined(cells: readonly Cell[]): Span[] {
  const spans: Span[] = [];
  for (const { letter, style } of cells) {
    const last = spans.at(-1);
    if (last?.style === style) last.text += letter;
    else spans.push({ text: letter, style });
  }
  return spans;
}

// The look with which the next line begins.
export function lookAfter(line: string, before: string): string {
  if (!line.includes(escape)) return before;
  const look = new Look(before);
  for (let at = line.indexOf(escape); at >= 0; ) {
    const after = endOfEscape(line, at);
    look.read(line.slice(at, after));
    at = line.indexOf(escape, after);
  }
  return look.style();
}

export const plainText = (line: string): string => spansOf(line).map((span) => span.text).join('');

class Look {
  private foreground: string;
  private readonly marks: Set<string>;

  // As style() gave it.
  constructor(style: string) {
    const words = style.split(' ').filter((word) => word !== '');
    this.foreground = words.find((word) => word.startsWith('fg')) ?? '';
    this.marks = new Set(words.filter((word) => !word.startsWith('fg')));
  }

  read(sequence: string): void {
    const codes = /^\u001b\[([\d;]*)m$/.exec(sequence)?.[1];
    if (codes !== undefined) this.apply(codes);
  }

  style(): string {
    return [this.foreground, ...this.marks].filter((each) => each !== '').join(' ');
  }

  private apply(codes: string): void {
    const all = codes === '' ? [0] : codes.split(';').map(Number);
    for (let i = 0; i < all.length; i += 1) {
      const code = all[i]!;
      if (code === 0) this.reset();
      else if (code === 1) this.marks.add('bold');
      else if (code === 2) this.marks.add('faint');
      else if (code === 3) this.marks.add('italic');
      else if (code === 4) this.marks.add('underlined');
      else if (code === 7) this.marks.add('reversed');
      else if (code === 22) this.unmark('bold', 'faint');
      else if (code === 23) this.unmark('italic');
      else if (code === 24) this.unmark('underlined');
      else if (code === 27) this.unmark('reversed');
      else if (code >= 30 && code <= 37) this.foreground = `fg${code - 30}`;
      else if (code >= 90 && code <= 97) this.foreground = `fg${code - 90}`;
      else if (code === 39) this.foreground = '';
      else if (code === 38 || code === 48) {
        const length = all[i + 1] === 5 ? 2 : all[i + 1] === 2 ? 4 : 0;
        if (code === 38 && length === 2) this.foreground = nameOf(all[i + 2]!);
        if (code === 38 && length === 4) this.foreground = nearest(all[i + 2]!, all[i + 3]!, all[i + 4]!);
        i += length;
      }
    }
  }

  private reset(): void {
    this.foreground = '';
    this.marks.clear();
  }
  private unmark(...names: string[]): void {
    for (const name of names) this.marks.delete(name);
  }
}

// Of the 256 colours of terminals: the first 16 have names, the cube and the greys go to the nearest one,
// so that each can be read in both themes.
function nameOf(index: number): string {
  if (index < 16) return `fg${index % 8}`;
  if (index >= 232) return index < 244 ? 'faint' : '';
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6];
  return nearest(red! * 51, green! * 51, blue! * 51);
}

function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40) return most < 110 ? 'faint' : '';
  const bit = (value: number): number => (value > most * 0.6 ? 1 : 0);
  return `fg${bit(red) + 2 * bit(green) + 4 * bit(blue)}`;
}
