import { type InputHTMLAttributes, type TextareaHTMLAttributes, useState } from 'react';

interface Typed {
  value: string;
  isSame: (typed: string) => boolean; // it means what `value` means
  onType: (typed: string) => void;
}
type Props = Typed & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'>;
type AreaProps = Typed & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange' | 'value'>;

// A field whose value is kept in another form than it is typed in: "a," is still the list of a, and "02"
// still 2. What is typed stays while it means the value; leaving the field tidies it.
export function TypedInput({ value, isSame, onType, ...rest }: Props) {
  return <input {...rest} {...useTyped({ value, isSame, onType })} />;
}

export function TypedArea({ value, isSame, onType, ...rest }: AreaProps) {
  return <textarea {...rest} {...useTyped({ value, isSame, onType })} />;
}

function useTyped({ value, isSame, onType }: Typed) {
  const [typed, setTyped] = useState<string | null>(null);
  return {
    value: typed !== null && isSame(typed) ? typed : value,
    onChange: (event: { target: { value: string } }): void => {
      setTyped(event.target.value);
      onType(event.target.value);
    },
    onBlur: (): void => setTyped(null),
  };
}
