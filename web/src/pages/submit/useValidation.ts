import { useEffect, useState } from 'react';
import { whatIfSubmit } from '../../api/actions';
import type { WhatIf } from '../../api/types';

export type Validation =
  | { state: 'idle' | 'asking' }
  | { state: 'valid'; answer: WhatIf }
  | { state: 'invalid'; error: Error };

const quietMs = 450;

// The server itself judges the job, a moment after the last key: what it accepts here it accepts when
// sent, and it says who would give way and when the job would start.
export function useValidation(yaml: string, isOn: boolean): Validation {
  const [validation, setValidation] = useState<Validation>({ state: 'idle' });
  useEffect(() => {
    if (!isOn) return setValidation({ state: 'idle' });
    let isCurrent = true;
    const timer = setTimeout(() => {
      setValidation((old) => (old.state === 'idle' ? { state: 'asking' } : old));
      whatIfSubmit(yaml).then(
        (answer) => isCurrent && setValidation({ state: 'valid', answer }),
        (error: Error) => isCurrent && setValidation({ state: 'invalid', error }),
      );
    }, quietMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [yaml, isOn]);
  return validation;
}
