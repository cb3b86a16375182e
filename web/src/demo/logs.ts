// A log of any length that is kept nowhere: each line is made from its number, and all are of one length,
// so that every place in it is known. Answers as the server does (GET …/logs and …/logs/search).
export interface MadeLog {
  lines: (now: number) => number;
  isOver: (now: number) => boolean;
  lineBytes: number;
  timeOf: (line: number) => number; // ms; ascending
  textOf: (line: number) => string; // without the time and the line end; padded or cut to the length
}

const encoder = new TextEncoder();
const stampBytes = 25;
const space = 32;
const pieceMs = 700;

function lineBytesOf(log: MadeLog, line: number): Uint8Array {
  const bytes = new Uint8Array(log.lineBytes).fill(space);
  bytes.set(encoder.encode(`${new Date(log.timeOf(line)).toISOString()} `));
  bytes.set(encoder.encode(log.textOf(line)).subarray(0, log.lineBytes - stampBytes - 1), stampBytes);
  bytes[log.lineBytes - 1] = 10;
  return bytes;
}

function bytesOf(log: MadeLog, from: number, to: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(to - from);
  for (let line = Math.floor(from / log.lineBytes); line * log.lineBytes < to; line += 1) {
    const begin = line * log.lineBytes;
    const bytes = lineBytesOf(log, line);
    const [first, last] = [Math.max(from, begin), Math.min(to, begin + log.lineBytes)];
    out.set(bytes.subarray(first - begin, last - begin), first - from);
  }
  return out;
}

function firstLineSince(log: MadeLog, since: number, count: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (log.timeOf(middle) >= since) high = middle;
    else low = middle + 1;
  }
  return low;
}

const whole = 1024 * 1024;

export function answerLog(log: MadeLog, query: URLSearchParams, signal?: AbortSignal | null): Response {
  const now = Date.now();
  const size = log.lines(now) * log.lineBytes;
  const [since, tail, most] = [query.get('since'), Number(query.get('tail_bytes') ?? 0), Number(query.get('max_bytes') ?? 0)];
  let from = Math.min(Math.max(0, Number(query.get('offset') ?? 0)), size);
  if (tail > 0) from = Math.max(0, size - Math.floor(tail / log.lineBytes) * log.lineBytes);
  if (since !== null) from = firstLineSince(log, Date.parse(since), log.lines(now)) * log.lineBytes;
  const headers: Record<string, string> = { 'Content-Type': 'text/plain', 'HAI-Log-Offset': String(from) };
  if (most > 0) {
    const to = Math.min(size, from + most);
    const place = { 'HAI-Log-Begin': '0', 'HAI-Log-Size': String(size), 'HAI-Log-Over': String(log.isOver(now)) };
    return new Response(bytesOf(log, from, to), { headers: { ...headers, ...place } });
  }
  return new Response(streamOf(log, from, query.get('follow') === 'true', signal), { headers });
}

function streamOf(log: MadeLog, from: number, follows: boolean, signal?: AbortSignal | null): ReadableStream<Uint8Array> {
  let at = from;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      return new Promise((resolve) => {
        const step = (): void => {
          const now = Date.now();
          const size = log.lines(now) * log.lineBytes;
          if (at < size) {
            const to = Math.min(size, at + whole);
            controller.enqueue(bytesOf(log, at, to));
            at = to;
            return resolve();
          }
          if (!follows || log.isOver(now) || signal?.aborted) {
            if (!signal?.aborted) controller.close();
            return resolve();
          }
          timer = setTimeout(step, pieceMs);
        };
        timer = setTimeout(step); // others get their turn in between
      });
    },
    cancel: () => clearTimeout(timer),
  });
}

export interface Found {
  attempt: number;
  rank: number;
  offset: number;
  at: string;
  text: string;
}

const stepLines = 20_000;

// One step, as the server's: some lines of one log after the other.
export function searchLogs(logs: { attempt: number; rank: number; log: MadeLog }[], query: URLSearchParams): unknown {
  const text = (query.get('text') ?? '').toLowerCase();
  const limit = Number(query.get('limit') ?? 100);
  const wants = (name: string, value: number): boolean => query.get(name) === null || Number(query.get(name)) === value;
  const asked = logs.filter((each) => wants('rank', each.rank) && wants('attempt', each.attempt));
  const [first = 0, line = 0] = (query.get('cursor') ?? '').split('.').filter((part) => part !== '').map(Number);
  const found: Found[] = [];
  let bytes = 0;
  let [at, from] = [first, line];
  for (let left = stepLines; at < asked.length && left > 0 && found.length < limit; ) {
    const { attempt, rank, log } = asked[at]!;
    const count = log.lines(Date.now());
    for (; from < count && left > 0 && found.length < limit; from += 1, left -= 1) {
      bytes += log.lineBytes;
      if (!log.textOf(from).toLowerCase().includes(text)) continue;
      found.push({ attempt, rank, offset: from * log.lineBytes, at: new Date(log.timeOf(from)).toISOString(), text: log.textOf(from) });
    }
    if (from < count) break;
    at += 1;
    from = 0;
  }
  return { lines: found, unread: [], bytes, logs_done: at, logs: asked.length, next_cursor: at < asked.length ? `${at}.${from}` : null };
}

const beatMs = 700;
const fastLines = 900; // each within a millisecond, before the steps come at their pace

// What a rank of the demo writes: a step of training each beat, sometimes a warning in colour and a bar
// that was drawn over itself.
export function madeLog(rank: number, beganAt: number, endedAt: () => number | null): MadeLog {
  const count = (now: number): number => Math.max(0, fastLines + Math.floor(((endedAt() ?? now) - beganAt - fastLines) / beatMs));
  return {
    lines: count,
    isOver: () => endedAt() !== null,
    lineBytes: 128,
    timeOf: (line) => beganAt + Math.min(line, fastLines) + Math.max(0, line - fastLines) * beatMs,
    textOf(line) {
      const step = 1_200 + line;
      if (line % 97 === 40) return `\u001b[33mWARN\u001b[0m rank ${rank}: data loader is ${20 + (line % 61)} ms late`;
      if (line % 211 === 100) return `validate:  25%|##        |\rvalidate:  75%|#######   |\rvalidate: 100%|##########| ${step} [\u001b[32mok\u001b[0m]`;
      const loss = (2.9 * Math.exp(-step / 9000) + 0.01 * Math.sin(step)).toFixed(4);
      return `step ${step} loss ${loss} lr 2.4e-04 tokens/s ${31_200 + ((step * 77) % 900)} [rank ${rank}]`;
    },
  };
}

// The same without what is too much of it at some time; it goes on as before.
export function shortened(log: MadeLog, linesMax: number, at: number): MadeLog {
  const dropped = Math.max(0, log.lines(at) - linesMax);
  return { ...log, lines: (now) => Math.max(0, log.lines(now) - dropped), timeOf: (line) => log.timeOf(line + dropped), textOf: (line) => log.textOf(line + dropped) };
}
