import { useEffect } from 'react';

// g + letter goes to a page; / and ? work anywhere outside text fields.
export const goKeys: Record<string, [path: string, title: string]> = {
  o: ['/', 'Overview'],
  w: ['/now', 'Now: what is wrong, for a wall or a phone'],
  m: ['/map', 'Map'],
  j: ['/jobs', 'Jobs'],
  q: ['/queue', 'Queue'],
  e: ['/mine', 'My jobs'],
  n: ['/nodes', 'Nodes'],
  i: ['/incidents', 'Incidents'],
  h: ['/history', 'History'],
  t: ['/account', 'My tokens'],
  u: ['/quotas', 'Users and quotas'],
  s: ['/submit', 'Submit'],
};

const sequenceMs = 1_200;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role=dialog], [role=menu]') !== null;
}

export function useShortcuts(go: (path: string) => void, onSearch: () => void, onHelp: () => void): void {
  useEffect(() => {
    let lastG = Number.NEGATIVE_INFINITY; // time stamps count from the load of the page
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const target = goKeys[event.key];
      if (event.timeStamp - lastG < sequenceMs && target) {
        lastG = Number.NEGATIVE_INFINITY;
        go(target[0]);
      } else if (event.key === 'g') {
        lastG = event.timeStamp;
        return;
      } else if (event.key === '/') onSearch();
      else if (event.key === '?') onHelp();
      else if (event.key === 'j' || event.key === 'k') focusRows(event);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [go, onSearch, onHelp]);
}

// The first j or k on a page takes the focus into its table, and counts there.
function focusRows(event: KeyboardEvent): void {
  const rows = document.querySelector<HTMLElement>('[data-rows]');
  if (!rows || rows.contains(event.target as globalThis.Node)) return;
  rows.focus();
  rows.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true }));
}
