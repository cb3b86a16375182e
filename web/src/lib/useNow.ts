import { useEffect, useState } from 'react';
import { useFactsFrom } from './freshness';
import { isVisible } from './visible';

// The viewer's clock, which ticks whatever the server does. It stands still while nobody can see the
// page: what asks for "this hour" would else ask the server anew whenever an hour is over.
export function useClock(periodMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const tick = (): void => {
      if (isVisible()) setNow(Date.now());
    };
    const timer = setInterval(tick, periodMs);
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [periodMs]);
  return now;
}

// The time that the shown facts are of, for "3m ago" and "runs for 2h". It stands still while the
// server is away: a timer that goes on would claim that the job still runs.
export function useNow(periodMs = 1_000): number {
  const now = useClock(periodMs);
  return useFactsFrom() ?? now;
}
