import { useCallback, useEffect, useState } from 'react';
import { whatIfSubmit } from '../../api/actions';
import { ApiError } from '../../api/client';
import type { WhatIf } from '../../api/types';

export type Validation =
  | { state: 'idle' }
  | { state: 'asking'; before: WhatIf | null } // the answer to an older text
  | { state: 'valid'; answer: WhatIf }
  | { state: 'invalid'; error: Error }
  | { state: 'unknown'; error: Error }; // nobody could judge it

const quietMs = 450;

type Verdict = Extract<Validation, { state: 'valid' | 'invalid' | 'unknown' }>;

// A refusal judges the job file; a planner that is away, busy or too slow judges nothing.
export function verdictOf(error: Error): Verdict {
  const judges = error instanceof ApiError && error.status >= 400 && error.status < 500 && ![401, 408, 429, 499].includes(error.status);
  return { state: judges ? 'invalid' : 'unknown', error };
}

// The server itself judges the job, a moment after the last key: what it accepts here it accepts when
// sent, and it says who would give way and when the job would start. A verdict is of one text only.
export function useValidation(yaml: string, isOn: boolean): Validation & { ask: () => void } {
  const [last, setLast] = useState<{ yaml: string; verdict: Verdict } | null>(null);
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (!isOn) return;
    let isCurrent = true;
    const judge = (verdict: Verdict): void => {
      if (isCurrent) setLast({ yaml, verdict });
    };
    const timer = setTimeout(() => {
      whatIfSubmit(yaml).then(
        (answer) => judge({ state: 'valid', answer }),
        (error: Error) => judge(verdictOf(error)),
      );
    }, quietMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [yaml, isOn, times]);
  const ask = useCallback(() => {
    setLast(null);
    setTimes((count) => count + 1);
  }, []);
  if (!isOn) return { state: 'idle', ask };
  if (last?.yaml === yaml) return { ...last.verdict, ask };
  return { state: 'asking', before: last?.verdict.state === 'valid' ? last.verdict.answer : null, ask };
}
