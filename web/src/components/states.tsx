import type { ReactNode } from 'react';
import { ApiError } from '../api/client';

// What a part shows when there is nothing, not yet something, or something went wrong.
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const code = error instanceof ApiError && error.code !== '' ? `${error.code.replaceAll('_', ' ')}: ` : '';
  return (
    <div className="failure" role="alert">
      {code}
      {error.message}
      {onRetry && (
        <button className="button small quiet" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ lines = 4, height }: { lines?: number; height?: string }) {
  return (
    <div className="stack" role="progressbar" aria-busy="true" aria-label="loading" style={{ minHeight: height }}>
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} className="skeleton" style={{ width: `${90 - ((i * 23) % 50)}%` }} />
      ))}
    </div>
  );
}

interface Answer<T> {
  data: T | undefined;
  error: Error | null;
  isPending: boolean;
  refetch?: () => unknown;
}

export function Await<T>({
  answer,
  lines,
  children,
}: {
  answer: Answer<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  if (answer.data !== undefined) return <>{children(answer.data)}</>;
  if (answer.error) return <Failure error={answer.error} onRetry={() => void answer.refetch?.()} />;
  return <Loading lines={lines} />;
}
