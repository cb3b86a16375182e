// The lines of a log as they come in pieces. Bounded: the oldest lines go when there are too many.
export const linesMax = 50_000;

export class LogBuffer {
  private rest = '';
  lines: string[] = [];
  dropped = 0;

  push(piece: string): void {
    const parts = (this.rest + piece).split('\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) this.lines.push(part.replace(/\r$/, ''));
    if (this.lines.length > linesMax) {
      this.dropped += this.lines.length - linesMax;
      this.lines = this.lines.slice(-linesMax);
    }
  }

  // A last line without its line end is shown too.
  all(): string[] {
    return this.rest === '' ? this.lines : [...this.lines, this.rest];
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
