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
let waiting: Record<string, unknown> = {};
let address = ''; // of the page that the waiting values are of
let timer: ReturnType<typeof setTimeout> | undefined;

const onKey = (event: KeyboardEvent): void => {
  if (event.key === 'Enter') write();
};

export function keepPlace(name: string, value: unknown): void {
  if (address !== location.href) waiting = {};
  address = location.href;
  waiting[name] = value;
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
  if (Object.keys(waiting).length === 0) return;
  try {
    history.replaceState({ ...(history.state as object | null), ...waiting }, '');
    waiting = {};
  } catch {
    // Refused after all: it waits for the next change.
  }
}
