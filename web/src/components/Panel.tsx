import type { ReactNode } from 'react';

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
  return (
    <section id={id} className={`panel ${className}`}>
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
