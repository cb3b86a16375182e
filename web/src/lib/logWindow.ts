// A part of a log: the bytes from `start` to `end`, as lines. It grows at both ends and is cut at the
// other one, so that a log of any size can be read through a bounded part of it. Offsets are bytes from
// the beginning of the log.

export interface LogLine {
  offset: number;
  stamp: string; // the time that its shim wrote, or ''
  text: string;
}
// Lines that are shown together; a block that has not changed is the same object.
export interface LogBlock {
  offset: number;
  end: number;
  lines: readonly LogLine[];
}

const linesPerBlock = 100;
const newline = 10;
const decoder = new TextDecoder();

// "2026-11-20T14:52:49.894123Z text": the time that the shim wrote before each line.
export function splitStamp(line: string): [stamp: string, text: string] {
  const match = /^(\d{4}-\d{2}-\d{2}T[\d:.]+Z?) ([^]*)$/.exec(line);
  return match ? [match[1]!, match[2]!] : ['', line];
}

function lineOf(offset: number, bytes: Uint8Array): LogLine {
  const [stamp, text] = splitStamp(decoder.decode(bytes));
  return { offset, stamp, text: text.endsWith('\r') ? text.slice(0, -1) : text };
}

// The lines of some bytes, and where the last one's end is; what is behind it has no line end yet.
function linesOf(offset: number, bytes: Uint8Array): { lines: LogLine[]; end: number } {
  const lines: LogLine[] = [];
  let from = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
    lines.push(lineOf(offset + from, bytes.subarray(from, at)));
    from = at + 1;
  }
  return { lines, end: offset + from };
}

function blocksOf(lines: LogLine[], end: number): LogBlock[] {
  const blocks: LogBlock[] = [];
  for (let i = 0; i < lines.length; i += linesPerBlock) {
    blocks.push({ offset: lines[i]!.offset, end: lines[i + linesPerBlock]?.offset ?? end, lines: lines.slice(i, i + linesPerBlock) });
  }
  return blocks;
}

export class LogWindow {
  start = 0;
  end = 0; // with what has no line end yet
  blocks: readonly LogBlock[] = [];
  private open = new Uint8Array(0); // of the last line, whose end is not known
  private openAt = 0;

  // Begins anew with these bytes. Without `isLineStart` the first line is a part of one, and is left out.
  reset(offset: number, bytes: Uint8Array, isLineStart: boolean): void {
    const skipped = isLineStart ? 0 : bytes.indexOf(newline) + 1;
    this.blocks = [];
    this.open = new Uint8Array(0);
    this.start = this.end = this.openAt = offset + skipped;
    this.append(this.end, bytes.subarray(skipped));
  }

  // Bytes that are known already are passed over. False: some before these are missing.
  append(offset: number, bytes: Uint8Array): boolean {
    if (offset > this.end) return false;
    const fresh = bytes.subarray(Math.min(this.end - offset, bytes.length));
    if (fresh.length === 0) return true;
    const all = new Uint8Array(this.open.length + fresh.length);
    all.set(this.open);
    all.set(fresh, this.open.length);
    const { lines, end } = linesOf(this.openAt, all);
    this.open = all.slice(end - this.openAt);
    this.openAt = end;
    this.end += fresh.length;
    this.addLines(lines, end);
    return true;
  }

  // Nobody has the bytes up to there any more, which a line says in their place.
  skipTo(offset: number): void {
    if (offset <= this.end) return;
    const text = `… ${offset - this.end} bytes are not kept …`;
    this.blocks = [...this.blocks, { offset: this.end, end: offset, lines: [{ offset: this.end, stamp: '', text }] }];
    this.open = new Uint8Array(0);
    this.end = this.openAt = offset;
  }

  // What stands right before `start`, back from there. Without `isLineStart` its first line is a part.
  prepend(offset: number, bytes: Uint8Array, isLineStart: boolean): boolean {
    if (offset + bytes.length < this.start || offset >= this.start) return false;
    const older = bytes.subarray(0, this.start - offset);
    const skipped = isLineStart ? 0 : older.indexOf(newline) + 1;
    const { lines } = linesOf(offset + skipped, older.subarray(skipped));
    if (lines.length === 0) return false;
    this.blocks = [...blocksOf(lines, this.start), ...this.blocks];
    this.start = lines[0]!.offset;
    return true;
  }

  // Whole blocks go, and never all.
  trimStart(bytesMax: number, linesMax: number): void {
    const blocks = [...this.blocks];
    while (blocks.length > 1 && (this.end - blocks[0]!.offset > bytesMax || linesIn(blocks) > linesMax)) blocks.shift();
    if (blocks.length === this.blocks.length) return;
    this.blocks = blocks;
    this.start = blocks[0]!.offset;
  }

  trimEnd(bytesMax: number, linesMax: number): void {
    const blocks = [...this.blocks];
    while (blocks.length > 1 && (blocks.at(-1)!.end - this.start > bytesMax || linesIn(blocks) > linesMax)) blocks.pop();
    if (blocks.length === this.blocks.length) return;
    this.blocks = blocks;
    this.open = new Uint8Array(0);
    this.end = this.openAt = blocks.at(-1)!.end;
  }

  get lineCount(): number {
    return linesIn(this.blocks);
  }

  // A last line without its line end.
  get openLine(): LogLine | null {
    return this.open.length === 0 ? null : lineOf(this.openAt, this.open);
  }

  private addLines(lines: LogLine[], end: number): void {
    if (lines.length === 0) return;
    const last = this.blocks.at(-1);
    if (!last || last.lines.length >= linesPerBlock) {
      this.blocks = [...this.blocks, ...blocksOf(lines, end)];
      return;
    }
    const room = linesPerBlock - last.lines.length;
    const rest = lines.slice(room);
    const grown: LogBlock = { offset: last.offset, end: rest[0]?.offset ?? end, lines: [...last.lines, ...lines.slice(0, room)] };
    this.blocks = [...this.blocks.slice(0, -1), grown, ...blocksOf(rest, end)];
  }
}

const linesIn = (blocks: readonly LogBlock[]): number => blocks.reduce((sum, block) => sum + block.lines.length, 0);
