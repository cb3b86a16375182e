import { useCallback, useEffect, useState } from 'react';
import { keepPlace, readPlace } from './place';

// State of a page that Back finds again (place.ts).
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState(() => readPlace(name, initial));
  useEffect(() => keepPlace(name, value), [name, value]);
  return [value, setValue];
}

interface KeptSet<T> {
  all: ReadonlySet<T>;
  setAll: (all: ReadonlySet<T>) => void;
  toggle: (one: T) => void;
}

export function useKeptSet<T extends string | number>(name: string): KeptSet<T> {
  const [all, setAll] = useState<ReadonlySet<T>>(() => new Set(readPlace<T[]>(name, [])));
  useEffect(() => keepPlace(name, [...all]), [name, all]);
  const toggle = useCallback((one: T) => {
    setAll((old) => {
      const next = new Set(old);
      if (!next.delete(one)) next.add(one);
      return next;
    });
  }, []);
  return { all, setAll, toggle };
}
