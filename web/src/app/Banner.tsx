import { formatDuration, formatTime } from '../lib/format';
import { silence, staleSince, useFactsFrom } from '../lib/freshness';
import { useStore } from '../lib/store';
import { useClock } from '../lib/useNow';

// Over the full width for as long as what is shown may not be true, and since when.
export function Banner() {
  const silent = useStore(silence);
  const stale = useStore(staleSince);
  const from = useFactsFrom();
  if (from === null) return null;
  if (silent) {
    // Facts that were old before the silence began are as old as they were.
    return (
      <Old since={from} className="banner silent">
        No answer from the server{silent.why && `: ${silent.why}`}. What you see is from {clockOf(from)} and may be wrong now. Running jobs do not need the server.
      </Old>
    );
  }
  if (stale !== null) {
    return (
      <Old since={stale} className="banner">
        The server can decide nothing now. What you see is from {clockOf(stale)}; running jobs go on.
      </Old>
    );
  }
  return null;
}

const clockOf = (at: number): string => formatTime(new Date(at).toISOString(), Date.now());

// The age counts on beside the alert, so that it is not read aloud every second.
function Old({ since, className, children }: { since: number; className: string; children: React.ReactNode }) {
  const now = useClock();
  return (
    <div className={className}>
      <span role="alert">{children}</span>
      <span>{formatDuration((now - since) / 1000)} old</span>
    </div>
  );
}
