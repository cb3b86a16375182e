// A line of a log as a terminal would show it: colours, and what carriage returns have written over.

interface Span {
  text: string;
  style: string; // classes: "fg1 bold"; '' = plain
}

const escape = '\u001b';

// "  1%|\r 50%|\r100%|" → "100%|": what comes behind a carriage return stands over what was before it.
export function overwritten(line: string): string {
  if (!line.includes('\r')) return line;
  let shown: Cell[] = [];
  for (const part of line.split('\r')) {
    const cells = cellsOf(part);
    if (cells.some((cell) => cell.erases)) shown = [];
    const letters = cells.filter((cell) => !cell.erases);
    if (letters.length > 0) shown = [...letters, ...shown.slice(letters.length)];
  }
  return shown.map((cell) => cell.before + cell.letter).join('');
}

interface Cell {
  before: string; // escape sequences
  letter: string;
  erases: boolean; // the whole line
}

// Letters, each with the escape sequences before it, so that colours move with what they colour.
function cellsOf(text: string): Cell[] {
  const cells: Cell[] = [];
  let before = '';
  for (let at = 0; at < text.length; ) {
    const end = text[at] === escape ? endOfEscape(text, at) : at + 1;
    const piece = text.slice(at, end);
    if (text[at] !== escape) {
      const letter = String.fromCodePoint(text.codePointAt(at)!);
      cells.push({ before, letter, erases: false });
      before = '';
      at += letter.length;
      continue;
    }
    if (/^\u001b\[[012]?K$/.test(piece)) cells.push({ before: '', letter: '', erases: true });
    else before += piece;
    at = end;
  }
  if (before !== '') cells.push({ before, letter: '', erases: false });
  return cells;
}

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

// The line in pieces of one look each. Escape sequences that are no colours are left out.
export function spansOf(line: string): Span[] {
  const text = overwritten(line);
  if (!text.includes(escape)) return [{ text, style: '' }];
  const spans: Span[] = [];
  const look = new Look();
  let plain = '';
  const end = (): void => {
    if (plain !== '') spans.push({ text: plain, style: look.style() });
    plain = '';
  };
  for (let at = 0; at < text.length; ) {
    if (text[at] !== escape) {
      plain += text[at];
      at += 1;
      continue;
    }
    const after = endOfEscape(text, at);
    const colours = /^\u001b\[([\d;]*)m$/.exec(text.slice(at, after));
    if (colours) {
      end();
      look.apply(colours[1]!);
    }
    at = after;
  }
  end();
  return spans;
}

export const plainText = (line: string): string => spansOf(line).map((span) => span.text).join('');

class Look {
  private foreground = '';
  private readonly marks = new Set<string>();

  style(): string {
    return [this.foreground, ...this.marks].filter((each) => each !== '').join(' ');
  }

  apply(codes: string): void {
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
