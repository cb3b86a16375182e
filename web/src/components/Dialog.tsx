import * as Radix from '@radix-ui/react-dialog';
import { type ReactNode, useRef } from 'react';

export function Dialog({
  title,
  isOpen,
  onClose,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const opener = useRef<HTMLElement | null>(null);
  // While drawing: a field of the dialog takes the focus before any effect runs.
  if (!isOpen) opener.current = null;
  else opener.current ??= document.activeElement as HTMLElement | null;
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content className="dialog" aria-describedby={undefined} onCloseAutoFocus={(event) => giveBack(event, opener.current)}>
          <Radix.Title asChild>
            <h1>{title}</h1>
          </Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

// To what was used to open it, as people with keyboards expect; to the page if that is gone.
function giveBack(event: Event, opener: HTMLElement | null): void {
  event.preventDefault();
  const target = opener?.isConnected ? opener : document.getElementById('page');
  target?.focus();
}
