import type { Capacity } from '../lib/capacity';
import { formatCount, formatPercent } from '../lib/format';

type Part = Exclude<keyof Capacity, 'total'>;
const parts: [part: Part, color: string, meaning: string][] = [
  ['used', '--gpu-used', 'running jobs, on nodes that report'],
  ['reserved', '--gpu-reserved', 'held for, or promised to, a job that is about to start'],
  ['idle', '--gpu-free', 'open to any job'],
  ['closed', '--gpu-draining', 'unused, on nodes that people have closed'],
  ['broken', '--gpu-broken', 'unused, on nodes closed because a check failed'],
  ['silent', '--lost', 'on nodes that do not report: what their jobs do is not known'],
];
// Said even when there are none.
const isAlwaysSaid = (part: Part): boolean => ['used', 'idle', 'broken', 'silent'].includes(part);

export function CapacityBar({ capacity }: { capacity: Capacity }) {
  const { total } = capacity;
  const shown = parts.filter(([part]) => isAlwaysSaid(part) || capacity[part] > 0);
  const text = shown.map(([part]) => `${capacity[part]} ${part}`).join(', ');
  return (
    <>
      <div className="capacity" role="img" aria-label={`${total} GPUs: ${text}`}>
        {shown
          .filter(([part]) => capacity[part] > 0)
          .map(([part, color]) => (
            <i key={part} title={`${formatCount(capacity[part])} ${part}`} style={{ flexGrow: capacity[part], background: `var(${color})` }} />
          ))}
      </div>
      <div className="legend">
        {shown.map(([part, color, meaning]) => (
          <span key={part} title={meaning}>
            <i style={{ background: `var(${color})` }} />
            {part} <b>{formatCount(capacity[part])}</b>
            <span className="dim">{formatPercent(capacity[part], total)}</span>
          </span>
        ))}
      </div>
    </>
  );
}
