import * as Radix from '@radix-ui/react-dropdown-menu';
import type { ReactNode } from 'react';

interface MenuItem {
  label: ReactNode;
  onSelect: () => void;
  isDisabled?: boolean;
}

export function Menu({ trigger, items }: { trigger: ReactNode; items: (MenuItem | null)[] }) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align="start" sideOffset={4}>
          {items.map((item, i) =>
            item === null ? (
              <hr key={i} />
            ) : (
              <Radix.Item key={i} disabled={item.isDisabled ?? false} onSelect={item.onSelect}>
                {item.label}
              </Radix.Item>
            ),
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
