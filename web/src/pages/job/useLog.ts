import { useEffect, useRef, useState } from 'react';
import { type Log, LogReader, noLog } from './logReader';

// `isOver`: the rank has ended, so that the end of the answer is the end of the log.
export function useLog(job: string, attempt: number, rank: number, isOver: boolean): Log {
  const [log, setLog] = useState<Log>(noLog);
  const over = useRef(isOver);
  over.current = isOver;
  useEffect(() => {
    setLog(noLog);
    const reader = new LogReader({ job, attempt, rank }, () => over.current, setLog);
    void reader.run();
    return () => reader.stop();
  }, [job, attempt, rank]);
  return log;
}
