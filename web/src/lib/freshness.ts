import { createStore, useStore } from './store';

// How old the shown facts are. All times are milliseconds since 1970, null while nothing is wrong.

// The last sign of life of a server that has stopped answering; what stands in its place says why, if
// anything does.
export interface Silence {
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

// Null: what is shown is true now. Else nobody knows what has changed since.
export function useFactsFrom(): number | null {
  useStore(silence);
  useStore(staleSince);
  return factsFrom();
}
