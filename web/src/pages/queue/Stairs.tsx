import { useId, useMemo } from 'react';
import type { Queue, QueueBlock, QueueEntry } from '../../api/types';
import { SaveChart } from '../../components/SaveChart';
import { formatCount, formatPlural } from '../../lib/format';
import { type Band, blockRows, blockTitle, freeAfter, stackBlocks, startParts, type Starts, startsOf, startsTitle } from '../../lib/queue';
import { useWidth } from '../../lib/useWidth';

const usualWidth = 600;
const height = 190;
const left = 44;
const bottom = 20;
const lane = 56; // below it: what is expected to start
const laneHead = 16;

const toneOf = (block: QueueBlock, user: string, hatch: string, unheard: string | null): string => {
  if (unheard !== null) return `url(#${unheard})`;
  if (block.kind === 'held') return 'var(--gpu-reserved)';
  if (block.kind === 'closed') return `url(#${hatch})`;
  return block.id !== null && block.user === user ? 'var(--accent)' : 'var(--gpu-used)';
};

interface StairsProps {
  group: Queue['groups'][number];
  blocks: QueueBlock[];
  entries: readonly QueueEntry[]; // that wait, as far as they are loaded
  horizon: number;
  now: number;
  user: string;
  isUnheard: (job: number) => boolean; // nothing is heard of nodes that it has
}

// Nodes of one group against time: each running job as high as its nodes and as long as it is expected
// to run. What lies above the stairs is free by then, if nobody new came. Below, what waits, when it is expected to start.
export function Stairs({ group, blocks, entries, horizon, now, user, isUnheard }: StairsProps) {
  const { bands } = useMemo(() => stackBlocks(blocks.filter((block) => block.group === group.group), now), [blocks, group.group, now]);
  const hatch = useId();
  const doubtful = `${hatch}-unheard`;
  const doubt = ({ id }: QueueBlock): boolean => id !== null && isUnheard(id);
  const [svg, width] = useWidth<SVGSVGElement>(usualWidth);
  const starts = useMemo(() => startsOf(entries, group.group, horizon, now), [entries, group.group, horizon, now]);
  const starting = starts.reduce((sum, part) => sum + part.jobs.length, 0);
  const whole = height + (starting > 0 ? lane : 0);
  const closing = blocks.filter((block) => block.group === group.group && block.from !== null);
  const total = Math.max(group.nodes, 1);
  const x = (hours: number): number => left + ((width - left) * Math.min(hours, horizon)) / horizon;
  const y = (nodes: number): number => (height - bottom) * (1 - Math.min(nodes, total) / total);
  const free = [0, horizon / 4, horizon].map((hours) => freeAfter(bands, total, hours));
  const axis = (hours: number): string => (hours >= 48 ? `${Math.round((hours / 24) * 10) / 10}d` : hours < 1 ? `${hours * 60}m` : hours % 1 === 0 ? `${hours}h` : `${Math.floor(hours)}h ${(hours % 1) * 60}m`);
  return (
    <figure className="stairs">
      <figcaption>
        <b>{group.group}</b>{' '}
        <span className="dim">
          {formatCount(group.nodes)} nodes; free if nobody new came: {formatCount(Math.floor(free[0]!))} now, {formatCount(Math.floor(free[1]!))} in {axis(horizon / 4)}, {formatCount(Math.floor(free[2]!))} in {axis(horizon)}
        </span>{' '}
        <SaveChart
          name={`queue-nodes-of-${group.group}`}
          title={`nodes of ${group.group}`}
          csv={({ csvRows }) => csvRows(blockRows(blocks.filter((block) => block.group === group.group)))}
          svg={({ svgText }) => svgText(svg.current!, `nodes of ${group.group} over the next ${horizon} hours`)}
        />
      </figcaption>
      <svg ref={svg} viewBox={`0 0 ${width} ${whole}`} style={{ height: whole }} role="img" aria-label={`nodes of ${group.group} in use over the next ${horizon} hours: ${formatCount(Math.floor(free[0]!))} of ${formatCount(group.nodes)} are free now, ${formatCount(Math.floor(free[2]!))} are expected to be at the end${starting > 0 ? `; ${formatPlural(starting, 'job')} of those that wait ${starting === 1 ? 'is' : 'are'} expected to start by then` : ''}`}>
        <defs>
          <pattern id={hatch} width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="7" height="7" fill="var(--sunken)" />
            <rect width="3" height="7" fill="var(--gpu-draining)" />
          </pattern>
          <pattern id={doubtful} width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
            <rect width="7" height="7" fill="var(--sunken)" />
            <rect width="3" height="7" fill="var(--lost)" />
          </pattern>
        </defs>
        <rect x={left} y={0} width={width - left} height={height - bottom} fill="var(--sunken)" />
        {bands.map((band, i) => (
          <Block key={i} band={band} x={x} y={y} horizon={horizon} tone={toneOf(band.block, user, hatch, doubt(band.block) ? doubtful : null)} isUnheard={doubt(band.block)} />
        ))}
        {closing.map((block, i) => {
          const at = x(Math.max(0, (Date.parse(block.from!) - now) / 3_600_000));
          return (
            <g key={`closing ${i}`}>
              <title>{blockTitle(block)}</title>
              <line x1={at} x2={at} y1={0} y2={height - bottom} stroke="var(--gpu-draining)" strokeWidth={2} strokeDasharray="5 3" />
            </g>
          );
        })}
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <g key={part}>
            <line x1={x(part * horizon)} x2={x(part * horizon)} y1={0} y2={height - bottom} stroke="var(--line)" />
            <text x={x(part * horizon)} y={height - 6} textAnchor={part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}>{part === 0 ? 'now' : `+${axis(part * horizon)}`}</text>
          </g>
        ))}
        {[0, 0.5, 1].map((part) => (
          <text key={part} x={left - 5} y={Math.max(9, y(part * total))} textAnchor="end">{formatCount(Math.round(part * total))}</text>
        ))}
        {starting > 0 && <Lane starts={starts} width={width} user={user} />}
      </svg>
    </figure>
  );
}

// Jobs that wait where they are expected to start, as high as their nodes; one's own in the colour of one's own.
function Lane({ starts, width, user }: { starts: readonly Starts[]; width: number; user: string }) {
  const most = Math.max(...starts.map((part) => part.nodes));
  const wide = (width - left) / startParts;
  const floor = height + lane - 2;
  const high = (nodes: number): number => (nodes === 0 ? 0 : Math.max(2, ((lane - laneHead - 2) * nodes) / most));
  return (
    <g>
      <text x={left} y={height + 10}>expected to start, even odds: up to {formatPlural(most, 'node')} at a time</text>
      {starts.map((part, i) => {
        if (part.jobs.length === 0) return null;
        const mine = part.jobs.filter((job) => job.user === user).reduce((sum, job) => sum + job.node_count, 0);
        return (
          <g key={i} data-starts={part.jobs.length}>
            <title>{startsTitle(part)}</title>
            <rect x={left + i * wide + 0.5} y={floor - high(part.nodes)} width={wide - 1} height={high(part.nodes)} fill="var(--queued)" />
            <rect x={left + i * wide + 0.5} y={floor - high(mine)} width={wide - 1} height={high(mine)} fill="var(--accent)" />
          </g>
        );
      })}
      <line x1={left} x2={width} y1={floor} y2={floor} stroke="var(--line)" />
    </g>
  );
}

interface BlockProps {
  band: Band;
  x: (hours: number) => number;
  y: (nodes: number) => number;
  horizon: number;
  tone: string;
  isUnheard: boolean;
}

function Block({ band, x, y, horizon, tone, isUnheard }: BlockProps) {
  const top = y(band.from + band.block.nodes);
  const high = Math.max(0.4, y(band.from) - top);
  const until = band.until ?? horizon;
  const late = band.late ?? until;
  const gap = high > 3 ? 0.6 : 0;
  return (
    <g>
      <title>{blockTitle(band.block, isUnheard)}</title>
      {late > until && <rect x={x(until)} y={top} width={x(late) - x(until)} height={high - gap} fill={tone} opacity={0.28} />}
      <rect x={x(0)} y={top} width={Math.max(1, x(until) - x(0))} height={high - gap} fill={tone} />
    </g>
  );
}
