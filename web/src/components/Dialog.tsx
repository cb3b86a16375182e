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
  const wasOpen = useRef(false);
  // While drawing: a field of the dialog takes the focus before any effect runs. It is kept beyond the closing,
  // because Radix asks for it only afterwards.
  if (isOpen && !wasOpen.current) opener.current = document.activeElement as HTMLElement | null;
  wasOpen.current = isOpen;
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

// To what was used to open it, as people with keyboards expect; to the page if that is gone. Radix calls this a
// moment after the closing: what took the focus meanwhile keeps it, for example the search of whoever pressed Esc and /.
function giveBack(event: Event, opener: HTMLElement | null): void {
  event.preventDefault();
  const hasOpener = opener?.isConnected && opener !== document.body;
  const target = hasOpener ? opener : document.getElementById('page');
  const at = document.activeElement;
  if (at && at !== document.body && !at.contains(target)) return;
  target?.focus();
}
