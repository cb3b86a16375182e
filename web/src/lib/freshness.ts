import { createStore, useStore } from './store';

// How old the shown facts are. All times are milliseconds since 1970, null while nothing is wrong.

// The last sign of life of a server that has stopped answering; what stands in its place says why, if
// anything does.
interface Silence {
  since: number;
  why: string;
}
export const silence = createStore<Silence | null>(null);
// The time of the answers of a server that answers, but has lost its lease or its database.
export const staleSince = createStore<number | null>(null);

export function factsFrom(): number | null {
  const times = [silence.get()?.since, staleSince.get()].filter((each) => each !== null && each !== undefined);
  return times.length > 0 ? Math.min(...times) : null;
}

// An answer that is asked for anew at most so long after the last one.
const freshMs = 60_000;

export interface Asked {
  error: Error | null;
  dataUpdatedAt: number; // milliseconds; of the last good answer
}

// Null: the answer says what is now. Else it is of that time, and nobody knows what is now: the server
// is away, asking failed, or nobody asked because the page was hidden.
export function doubtSince(answer: Asked, now: number, isPaused: boolean): number | null {
  const isOld = answer.error !== null || isPaused || now - answer.dataUpdatedAt > freshMs;
  const times = [factsFrom(), isOld ? answer.dataUpdatedAt : null].filter((each) => each !== null);
  return times.length > 0 ? Math.min(...times) : null;
}

// Null: what is shown is true now. Else nobody knows what has changed since.
export function useFactsFrom(): number | null {
  useStore(silence);
  useStore(staleSince);
  return factsFrom();
}
