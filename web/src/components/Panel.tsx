import { type ReactNode, useEffect, useRef } from 'react';

export function Panel({
  id,
  title,
  aside,
  className = '',
  children,
}: {
  id?: string; // what an address leads to with #
  title?: ReactNode;
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (id === undefined) return;
    const show = (): void => {
      if (location.hash === `#${id}`) box.current!.scrollIntoView({ block: 'center' });
    };
    show();
    // A link on the page itself: wouter tells of it by this name.
    addEventListener('pushState', show);
    return () => removeEventListener('pushState', show);
  }, [id]);
  return (
    <section id={id} ref={box} className={`panel ${className}`}>
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {aside !== undefined && <span className="aside">{aside}</span>}
        </header>
      )}
      <div className="body">{children}</div>
    </section>
  );
}
