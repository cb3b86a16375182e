// What a page remembers of itself in the browser's history: where it was scrolled to and what was
// selected. Back finds it again; opening the page anew begins anew.
export function readPlace<T>(name: string, initial: T): T {
  const state = history.state as Record<string, unknown> | null;
  return (state?.[name] as T | undefined) ?? initial;
}

// Browsers refuse more than some changes of the history a minute, and throw: of a row of changes, as
// while a key is held, the first is written at once and the last when it rests, or before a click or
// Enter that may lead away.
const restMs = 250;
let waiting: Record<string, () => unknown> = {};
let address = ''; // of the page that the waiting values are of
let timer: ReturnType<typeof setTimeout> | undefined;

const onKey = (event: KeyboardEvent): void => {
  if (event.key === 'Enter') write();
};

export function keepPlace(name: string, value: unknown): void {
  keepLatest(name, () => value);
}

// The same of what is asked for when it is written: a list may be scrolled once more just before the click. Undefined
// says that it has none any more.
export function keepLatest(name: string, read: () => unknown): void {
  if (address !== location.href) waiting = {};
  address = location.href;
  waiting[name] = read;
  addEventListener('click', write, true);
  addEventListener('keydown', onKey, true);
  if (timer === undefined) write();
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = undefined;
    write();
  }, restMs);
}

function write(): void {
  // The page was left meanwhile: its place is not the next one's.
  if (address !== location.href) waiting = {};
  const read = Object.entries(waiting).map(([name, value]) => [name, value()] as const);
  const known = read.filter(([, value]) => value !== undefined);
  if (known.length === 0) return void (waiting = {});
  try {
    history.replaceState({ ...(history.state as object | null), ...Object.fromEntries(known) }, '');
    waiting = {};
  } catch {
    // Refused after all: it waits for the next change.
  }
}
