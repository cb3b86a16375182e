import { Link } from 'wouter';
import { formatCount } from '../lib/format';

export interface Bar {
  key: string;
  label: React.ReactNode;
  value: number;
  note?: string;
  tone?: string;
  href?: string;
  title?: string;
}

// Parts of a whole as thin bars under their names; the longest fills the width.
export function BarList({ bars, limit = 8 }: { bars: readonly Bar[]; limit?: number }) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const rest = bars.length - limit;
  return (
    <ul className="bars">
      {bars.slice(0, limit).map((bar) => {
        const style = { '--part': `${(100 * bar.value) / most}%`, '--tone': bar.tone } as React.CSSProperties;
        const inner = (
          <>
            <span className="clip" title={bar.title}>
              {bar.label}
            </span>
            <span>
              {formatCount(bar.value)} {bar.note && <span className="dim">{bar.note}</span>}
            </span>
            <i />
          </>
        );
        return (
          <li key={bar.key} style={style}>
            {bar.href ? <Link href={bar.href}>{inner}</Link> : <span className="bar">{inner}</span>}
          </li>
        );
      })}
      {rest > 0 && <li className="dim">and {rest} more</li>}
    </ul>
  );
}
