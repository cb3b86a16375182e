import { createStore, useStore } from '../lib/store';

type Theme = 'system' | 'light' | 'dark';
const key = 'hai.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

const read = (): Theme => {
  const kept = localStorage.getItem(key);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};
const chosen = createStore<Theme>(read());
const systemIsDark = createStore(dark.matches);
dark.addEventListener('change', () => systemIsDark.set(dark.matches));

export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(key);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(key, theme);
    document.documentElement.dataset.theme = theme;
  }
  chosen.set(theme);
}

// What is on the screen now: canvases draw again when it changes.
export function useTheme(): 'light' | 'dark' {
  const theme = useStore(chosen);
  const isDark = useStore(systemIsDark);
  if (theme !== 'system') return theme;
  return isDark ? 'dark' : 'light';
}

export const useChosenTheme = (): Theme => useStore(chosen);
