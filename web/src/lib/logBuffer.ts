// The lines of a log as they come in pieces. Bounded: the oldest lines go when there are too many.
export const linesMax = 50_000;

export class LogBuffer {
  private rest = '';
  private seam: Seam | null = null;
  lines: string[] = [];
  dropped = 0;

  // The log is read again from somewhere before its end: what is here already is passed over.
  readAgain(): void {
    this.rest = '';
    this.seam = this.lines.length > 0 ? new Seam(this.lines) : null;
  }

  // False: lines have been written between those that are here and the first of these. They are not
  // taken in; reading again from further back may find the seam.
  push(piece: string): boolean {
    const parts = (this.rest + piece).split('\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = part.replace(/\r$/, '');
      const verdict = this.seam?.judge(line) ?? 'new';
      if (verdict === 'gap') return false;
      if (verdict === 'new') this.lines.push(line);
    }
    if (this.lines.length > linesMax) {
      this.dropped += this.lines.length - linesMax;
      this.lines = this.lines.slice(-linesMax);
    }
    return true;
  }

  // The log ends here: a last line without its line end is new, however much was known before it.
  end(): void {
    this.seam = null;
  }

  // Gives the missing lines up, and says so where they would be.
  skipGap(): void {
    this.seam = null;
    this.rest = '';
    this.lines.push('… lines written meanwhile are not shown here …');
  }

  // A last line without its line end is shown too.
  all(): string[] {
    return this.rest === '' || this.seam?.isOpen ? this.lines : [...this.lines, this.rest];
  }
}

// Where two readings of one log meet, told by the time before each line, which never goes back.
class Seam {
  private readonly last: string;
  private readonly sameTime: string[];
  private hasMet = false;
  isOpen = true; // lines that are here already may still come

  constructor(lines: readonly string[]) {
    this.last = splitStamp(lines[lines.length - 1]!)[0];
    const first = lines.findLastIndex((line) => splitStamp(line)[0] !== this.last);
    this.sameTime = lines.slice(first + 1);
  }

  judge(line: string): 'known' | 'new' | 'gap' {
    if (!this.isOpen) return 'new';
    const [stamp] = splitStamp(line);
    if (stamp !== '' && stamp < this.last) return this.meet();
    const at = stamp === this.last ? this.sameTime.indexOf(line) : -1;
    if (at >= 0) {
      this.sameTime.splice(at, 1);
      return this.meet();
    }
    if (!this.hasMet) return 'gap';
    this.isOpen = false;
    return 'new';
  }

  private meet(): 'known' {
    this.hasMet = true;
    return 'known';
  }
}

// "2026-11-20T14:52:49.894123Z text": the time that the shim wrote before each line.
export function splitStamp(line: string): [stamp: string, text: string] {
  const match = /^(\d{4}-\d{2}-\d{2}T[\d:.]+Z?) (.*)$/.exec(line);
  return match ? [match[1]!, match[2]!] : ['', line];
}

export function findLines(lines: readonly string[], text: string): number[] {
  if (text === '') return [];
  const wanted = text.toLowerCase();
  const hits: number[] = [];
  lines.forEach((line, i) => {
    if (line.toLowerCase().includes(wanted)) hits.push(i);
  });
  return hits;
}
