import { type RefObject, useEffect, useRef, useState } from 'react';

// How wide an element is, so that what is drawn in it has letters of the page's size at any width.
export function useWidth<T extends Element>(atFirst: number): [ref: RefObject<T | null>, width: number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(atFirst);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const now = Math.round(entry!.contentRect.width);
      if (now > 0) setWidth(now);
    });
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
