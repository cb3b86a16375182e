import { Link } from 'wouter';
import { formatCount, formatPast } from '../lib/format';
import type { Trouble } from '../lib/troubles';
import { useNow } from '../lib/useNow';

// What is wrong, a line or two for each.
export function Troubles({ troubles, most = troubles.length }: { troubles: readonly Trouble[]; most?: number }) {
  const now = useNow();
  const rest = troubles.length - most;
  return (
    <ul className="stack">
      {troubles.slice(0, most).map((trouble) => (
        <li key={trouble.key} className="failure">
          <span className="links"><Link href={trouble.href}>{trouble.what}</Link></span>
          <div className="dim">
            {trouble.since === null ? 'since when is not known' : formatPast(new Date(trouble.since).toISOString(), now)}
            {trouble.person !== '' && ' · needs a person'}
          </div>
        </li>
      ))}
      {rest > 0 && (
        <li className="dim">
          <Link href="/now">and {formatCount(rest)} more</Link>
        </li>
      )}
    </ul>
  );
}
