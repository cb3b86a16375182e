import { createStore, useStore } from './store';

// The time zone in which times are shown: the viewer's own, or UTC. On every page the same.
export type Zone = 'local' | 'utc';

const key = 'hai.zone';
const read = (): Zone => (globalThis.localStorage?.getItem(key) === 'utc' ? 'utc' : 'local');

export const zone = createStore<Zone>(read());
globalThis.addEventListener?.('storage', (event) => event.key === key && zone.set(read()));

export function setZone(next: Zone): void {
  if (next === 'utc') localStorage.setItem(key, 'utc');
  else localStorage.removeItem(key);
  zone.set(next);
}

export const useZone = (): Zone => useStore(zone);

const localName = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'local time';
export const zoneName = (of: Zone): string => (of === 'utc' ? 'UTC' : localName());

// CET, GMT+8: what fits a button.
export function zoneLetters(of: Zone): string {
  if (of === 'utc') return 'UTC';
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'short' }).formatToParts(new Date());
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? 'local';
}

export interface Clock {
  year: number;
  month: number; // 1 to 12
  day: number;
  hour: number;
  minute: number;
  second: number;
  ms: number;
}

export function clockOf(at: Date, of: Zone = zone.get()): Clock {
  const ms = at.getMilliseconds();
  return of === 'utc'
    ? { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate(), hour: at.getUTCHours(), minute: at.getUTCMinutes(), second: at.getUTCSeconds(), ms }
    : { year: at.getFullYear(), month: at.getMonth() + 1, day: at.getDate(), hour: at.getHours(), minute: at.getMinutes(), second: at.getSeconds(), ms };
}

// What <input type="datetime-local"> gives, which names no zone.
export const fromInput = (text: string, of: Zone = zone.get()): Date => new Date(of === 'utc' ? `${text}Z` : text);
