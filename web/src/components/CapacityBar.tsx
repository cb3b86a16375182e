import type { Cluster } from '../api/types';
import { formatCount, formatPercent } from '../lib/format';

const parts = [
  ['used', 'used', 'running jobs'],
  ['reserved', 'reserved', 'held for a job that is about to start'],
  ['free', 'free', 'open to any job'],
  ['draining', 'draining', 'unused, but closed or promised to a job'],
  ['broken', 'broken', 'on nodes that are not up'],
] as const;

export function CapacityBar({ gpus }: { gpus: Cluster['gpus'] }) {
  const shown = parts.filter(([key]) => gpus[key] !== undefined);
  const text = shown.map(([key, title]) => `${gpus[key]} ${title}`).join(', ');
  return (
    <>
      <div className="capacity" role="img" aria-label={`${gpus.total} GPUs: ${text}`}>
        {shown
          .filter(([key]) => gpus[key]! > 0)
          .map(([key, title]) => (
            <i
              key={key}
              title={`${formatCount(gpus[key]!)} ${title}`}
              style={{ flexGrow: gpus[key]!, background: `var(--gpu-${key})` }}
            />
          ))}
      </div>
      <div className="legend">
        {shown.map(([key, title, meaning]) => (
          <span key={key} title={meaning}>
            <i style={{ background: `var(--gpu-${key})` }} />
            {title} <b>{formatCount(gpus[key]!)}</b>
            <span className="dim">{formatPercent(gpus[key]!, gpus.total)}</span>
          </span>
        ))}
      </div>
    </>
  );
}
