import { useEffect, useRef, useState } from 'react';
import { type Log, LogSession, noLog, type Target } from './logSession';

// `isOver`: the rank has ended, so that what cannot be read now will not come by itself.
export function useLog(job: string, attempt: number, rank: number, isOver: boolean, target: Target): { log: Log; session: LogSession | null } {
  const [log, setLog] = useState<Log>(noLog);
  const [session, setSession] = useState<LogSession | null>(null);
  const over = useRef(isOver);
  over.current = isOver;
  const first = useRef(target);
  first.current = target;
  useEffect(() => {
    setLog(noLog);
    const next = new LogSession({ job, attempt, rank }, () => over.current, setLog);
    setSession(next);
    void next.run(first.current);
    return () => next.stop();
  }, [job, attempt, rank]);
  return { log, session };
}
