import { type ReactNode, useEffect, useRef, useState } from 'react';

// A table that may be wider than the page: it scrolls in its own box, the page does not. Only then the
// box is a stop of the Tab key, for the arrow keys to scroll it. With the class `cards` each row is a card on a phone,
// texts below the rest; `data-label` of a cell says there what its column's head says here.
export function Table({ label, className = '', children }: { label: string; className?: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = box.current!;
    const look = (): void => setWide(element.scrollWidth > element.clientWidth);
    const observer = new ResizeObserver(look);
    for (const each of [element, ...element.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  const stop = isWide ? { tabIndex: 0, role: 'region', 'aria-label': label } : {};
  return (
    <div className="sideways" ref={box} {...stop}>
      <table className={`plain ${className}`}>{children}</table>
    </div>
  );
}
