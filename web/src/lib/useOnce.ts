import { useRef, useState } from 'react';

// One change at a time: what is asked for while another is on its way, as by a double click, is not done.
export function useOnce(): { isBusy: boolean; once: (act: () => Promise<void>) => Promise<void> } {
  const [isBusy, setBusy] = useState(false);
  const goesOn = useRef(false); // known before it is drawn
  const once = async (act: () => Promise<void>): Promise<void> => {
    if (goesOn.current) return;
    goesOn.current = true;
    setBusy(true);
    try {
      await act();
    } finally {
      goesOn.current = false;
      setBusy(false);
    }
  };
  return { isBusy, once };
}
