import { useSyncExternalStore } from 'react';

// As wide as a phone; styles/narrow.css has the same bound.
const phone = '(max-width: 560px)';

function subscribe(tell: () => void): () => void {
  const query = matchMedia(phone);
  query.addEventListener('change', tell);
  return () => query.removeEventListener('change', tell);
}

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(phone).matches);
