import { type InputHTMLAttributes, useState } from 'react';

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> {
  value: string;
  isSame: (typed: string) => boolean; // it means what `value` means
  onType: (typed: string) => void;
}

// A field whose value is kept in another form than it is typed in: "a," is still the list of a, and "02"
// still 2. What is typed stays while it means the value; leaving the field tidies it.
export function TypedInput({ value, isSame, onType, ...rest }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...rest}
      value={typed !== null && isSame(typed) ? typed : value}
      onChange={(event) => {
        setTyped(event.target.value);
        onType(event.target.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
