import { get, openStream } from './client';
import type { SearchLogReply } from './types';

// The log of one rank of one attempt, in parts.
export interface WhichLog {
  job: string;
  attempt: number;
  rank: number;
}

export interface LogPart {
  bytes: Uint8Array;
  offset: number; // of the first of them
  begin: number; // older bytes are not kept
  size: number; // of the whole log by now
  isOver: boolean; // it does not grow any more
  source: string | null; // why it is not from its node, and where from
  until: string | null; // it may go on after that time, which nobody can read now
}

// Where a part begins: at a byte, so many bytes before the end, or at the first line written then.
export type From = { offset: number } | { tail: number } | { since: string };

const beginMs = 20_000; // of an answer; the server waits 5 s for the node, and then looks into its store
export const partBytes = 128 * 1024;

export const logPath = ({ job, attempt, rank }: WhichLog): string =>
  `/api/v1/jobs/${encodeURIComponent(job)}/logs?attempt=${attempt}&rank=${rank}`;

export async function readPart(which: WhichLog, from: From, signal: AbortSignal, bytesMax = partBytes): Promise<LogPart> {
  const where = 'offset' in from ? `offset=${from.offset}` : 'tail' in from ? `tail_bytes=${from.tail}` : `since=${encodeURIComponent(from.since)}`;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(2 * beginMs)]);
  const response = await openStream(`${logPath(which)}&${where}&max_bytes=${bytesMax}`, { signal: limit }, beginMs);
  const number = (name: string): number => Number(response.headers.get(name) ?? 0);
  const { headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const offset = number('HAI-Log-Offset');
  return {
    bytes,
    offset,
    begin: number('HAI-Log-Begin'),
    size: Math.max(number('HAI-Log-Size'), offset + bytes.length),
    isOver: headers.get('HAI-Log-Over') === 'true',
    source: headers.get('HAI-Log-Source'),
    until: headers.get('HAI-Log-Until'),
  };
}

// From that byte on, until the attempt ends or the signal comes. Quiet: nothing has come at all; Firefox tells of an
// answer only with its first byte, and a rank may write none for long.
export async function followLog(which: WhichLog, offset: number, signal: AbortSignal, onBytes: (bytes: Uint8Array) => void): Promise<'ended' | 'quiet'> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), beginMs);
  try {
    const response = await openStream(`${logPath(which)}&offset=${offset}&follow=true`, { signal: AbortSignal.any([signal, late.signal]) }, 2 * beginMs);
    clearTimeout(timer);
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'ended';
      onBytes(value);
    }
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) return 'quiet';
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

export interface SearchQuery {
  text: string;
  matchCase: boolean;
  attempt: number | null; // null: all
  rank: number | null;
}

// One step of a search; the next one begins at the cursor that this one gives.
export function searchLog(job: string, query: SearchQuery, cursor: string | null, signal: AbortSignal): Promise<SearchLogReply> {
  const all = new URLSearchParams({ text: query.text, limit: '200' });
  if (query.matchCase) all.set('match_case', 'true');
  if (query.attempt !== null) all.set('attempt', String(query.attempt));
  if (query.rank !== null) all.set('rank', String(query.rank));
  if (cursor !== null) all.set('cursor', cursor);
  return get<SearchLogReply>(`/jobs/${encodeURIComponent(job)}/logs/search?${all}`, signal);
}
