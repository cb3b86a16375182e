import { useEffect, useState } from 'react';
import { useFactsFrom } from './freshness';

// The viewer's clock, which ticks whatever the server does.
export function useClock(periodMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), periodMs);
    return () => clearInterval(timer);
  }, [periodMs]);
  return now;
}

// The time that the shown facts are of, for "3m ago" and "runs for 2h". It stands still while the
// server is away: a timer that goes on would claim that the job still runs.
export function useNow(periodMs = 1_000): number {
  const now = useClock(periodMs);
  return useFactsFrom() ?? now;
}
