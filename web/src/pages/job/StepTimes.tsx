import { useMemo } from 'react';
import type { JobUsage } from '../../api/types';
import { SaveChart } from '../../components/SaveChart';
import { formatCount, formatPlural } from '../../lib/format';
import { slowRanks, sparkOf, stepTime, stepTimesOf } from '../../lib/usage';

const shownMax = 12;

// How long each rank took for a step, over time, all on one scale; the slowest first, and by name where they hold the others up.
export function StepTimes({ usage, times }: { usage: JobUsage; times: readonly number[] }) {
  const all = useMemo(() => stepTimesOf(usage), [usage]);
  if (all.length === 0) return null;
  const top = Math.max(...all.flatMap(({ seconds }) => seconds.filter((each) => each !== null)));
  const slow = slowRanks(all);
  const isSlow = new Set(slow.map((each) => each.rank));
  return (
    <div>
      <p className="row wrap dim small-text">
        Time per step of each rank, 0 to {stepTime(top)}
        <SaveChart
          name={`steps-attempt-${usage.attempt}`}
          title="the time per step"
          csv={({ csvOf }) => csvOf(times, all.map(({ rank, node, seconds }) => ({ label: `rank ${rank} on ${node} time per step (s)`, values: seconds })))}
          svg={({ multiplesSvg }, here) => multiplesSvg('Time per step', here.closest('div')!)}
        />
      </p>
      {slow.length > 0 && (
        <p className="failure" style={{ marginBottom: 'var(--s2)' }}>
          {formatPlural(slow.length, 'rank')} {slow.length === 1 ? 'takes' : 'take'} clearly longer for a step than the middle one: {slow.slice(0, 5).map(({ rank, node }) => `rank ${rank} on ${node}`).join(', ')}
          {slow.length > 5 && ` and ${formatCount(slow.length - 5)} more`}
        </p>
      )}
      <ul className="multiples" aria-label="time per step of each rank">
        {all.slice(0, shownMax).map(({ rank, node, seconds, middle }) => (
          <li key={rank} className="multiple steps" data-behind={isSlow.has(rank) || undefined}>
            <b>rank {rank}</b> <span className="dim">{node}</span>
            <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={`rank ${rank} on ${node}: ${stepTime(middle)} per step`}>
              <path d={sparkOf(seconds, times, top).path} fill="none" stroke="var(--queued)" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
            </svg>
            <span className="dim">{stepTime(middle)} per step</span>
          </li>
        ))}
      </ul>
      {all.length > shownMax && <p className="dim small-text">and {formatPlural(all.length - shownMax, 'rank')} more, none of them slower</p>}
    </div>
  );
}
