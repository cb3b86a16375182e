import { createStore, useStore } from '../lib/store';

interface Toast {
  id: number;
  tone: 'running' | 'failed';
  text: string;
}
const toasts = createStore<readonly Toast[]>([]);
const shownMs = 6_000;
let lastId = 0;

export function toast(text: string, tone: Toast['tone'] = 'running'): void {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get().slice(-3), { id, tone, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((each) => each.id !== id)), shownMs);
}

export function Toasts() {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useStore(toasts).map((each) => (
        <div key={each.id} className="toast" style={{ '--tone': `var(--${each.tone})` } as React.CSSProperties}>
          {each.text}
        </div>
      ))}
    </div>
  );
}
