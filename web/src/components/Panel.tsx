import type { ReactNode } from 'react';

export function Panel({
  title,
  aside,
  className = '',
  children,
}: {
  title?: ReactNode;
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={`panel ${className}`}>
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
