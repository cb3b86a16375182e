import { useEffect } from 'react';

const product = 'hai';

// What the tab of the browser is called, and what a screen reader says first of a new page.
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${product}`;
    return () => {
      document.title = product;
    };
  }, [title]);
}
