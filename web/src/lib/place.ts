// What a page remembers of itself in the browser's history: where it was scrolled to and what was
// selected. Back finds it again; opening the page anew begins anew.
export function readPlace<T>(name: string, initial: T): T {
  const state = history.state as Record<string, unknown> | null;
  return (state?.[name] as T | undefined) ?? initial;
}

export function keepPlace(name: string, value: unknown): void {
  history.replaceState({ ...(history.state as object | null), [name]: value }, '');
}
