import type { QueryClient } from '@tanstack/react-query';
import { silence } from '../lib/freshness';
import { isVisible } from '../lib/visible';
import { ApiError, get, setOnHeard } from './client';
import type { Cluster } from './types';

// Is the server still there? A stream of events that is silent says nothing: a frozen server keeps its
// connections. So whenever nothing was heard for a while, it is asked. That it does not answer is known
// within quietMs + tickMs + answerMs, which is 9 s.
const quietMs = 4_000;
const answerMs = 4_000;
const tickMs = 1_000;

let lastHeard = Date.now();
let unansweredAt = 0; // when the last question was asked that nobody has answered
let isDoubted = false;

// When anything last came from the server: an answer, be it a refusal, or a piece of a stream.
export const lastHeardAt = (): number => lastHeard;

// Another page may have heard it, and only tell so: what came before this page's own last word, or before
// a question that nobody answered, proves nothing.
export function heard(at = Date.now()): void {
  const isNews = at >= Date.now() || at > Math.max(lastHeard, unansweredAt);
  lastHeard = Math.max(lastHeard, at);
  if (!isNews) return;
  isDoubted = false;
  silence.set(null);
}

// A connection broke: ask at the next tick, without waiting until it has been quiet.
export function doubt(): void {
  isDoubted = true;
}

// Refusals of hai itself are answers. All else, be it a good answer of something else, is none.
const answers = [401, 403, 429];
const isNoAnswer = (error: unknown): error is Error => !(error instanceof ApiError && answers.includes(error.status));
const whyOf = (error: Error): string => (error instanceof ApiError && error.code !== 'unreachable' ? error.message : '');

function fallSilent(why: string, askedAt: number): void {
  unansweredAt = askedAt;
  if (silence.get()?.why !== why) silence.set({ since: lastHeard, why });
}

export function startPulse(client: QueryClient): () => void {
  const abort = new AbortController();
  let isAsking = false;
  setOnHeard(() => heard());
  lastHeard = Date.now();
  const tick = async (): Promise<void> => {
    const askedAt = Date.now();
    const isDue = isDoubted || silence.get() !== null || askedAt - lastHeard > quietMs;
    if (isAsking || !isDue || !isVisible()) return;
    isAsking = true;
    try {
      client.setQueryData(['cluster'], await get<Cluster>('/cluster', abort.signal, answerMs));
    } catch (error) {
      // What arrived meanwhile by another way counts.
      if (!abort.signal.aborted && isNoAnswer(error) && lastHeard < askedAt) fallSilent(whyOf(error), askedAt);
    }
    isAsking = false;
  };
  const timer = setInterval(() => void tick(), tickMs);
  return () => {
    clearInterval(timer);
    abort.abort();
    silence.set(null);
  };
}
