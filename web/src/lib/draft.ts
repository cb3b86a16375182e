import { useCallback, useState } from 'react';

const prefix = 'hai.draft.';

// A text that is being written, kept in this tab until it is sent, also while its page is left or loaded
// anew. `name` says whose and which it is.
export function useDraft(name: string, start: string) {
  const key = prefix + name;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? start);
  const write = useCallback(
    (next: string): void => {
      setText(next);
      if (next === start) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, next);
    },
    [key, start],
  );
  const forget = useCallback((): void => sessionStorage.removeItem(key), [key]);
  return { text, write, forget, isChanged: text !== start };
}
