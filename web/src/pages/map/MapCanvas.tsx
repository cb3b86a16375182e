import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useTheme } from '../../app/theme';
import type { Job, Node } from '../../api/types';
import { gpuOwners } from '../../lib/gpuOwners';
import type { ColorMode } from '../../lib/mapColors';
import { hitTest, layoutMap, type MapLayout, withNodes } from '../../lib/mapLayout';
import { MapPainter } from './painter';

export interface Spot {
  node: Node;
  gpu: number;
  job: Job | null;
}
interface Props {
  nodes: readonly Node[];
  jobs: ReadonlyMap<number, Job>;
  mode: ColorMode;
  lit: number | null; // the job whose ranks stand out
  spot: Spot | null;
  isKept: boolean;
  onSpot: (spot: Spot | null) => void;
  onKeep: (spot: Spot | null) => void;
  onOpen: (spot: Spot) => void;
}

// Where everything is stays as it is while only what is known of the nodes changes.
function useLayout(nodes: readonly Node[], { width, height }: { width: number; height: number }): MapLayout | null {
  const before = useRef<{ layout: MapLayout; width: number; height: number } | null>(null);
  return useMemo(() => {
    if (width <= 0) return null;
    const old = before.current;
    const kept = old && old.width === width && old.height === height ? withNodes(old.layout, nodes) : null;
    const layout = kept ?? layoutMap(nodes, width, height, rem() / 14);
    before.current = { layout, width, height };
    return layout;
  }, [nodes, width, height]);
}

export function MapCanvas({ nodes, jobs, mode, lit, spot, isKept, onSpot, onKeep, onOpen }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const theme = useTheme();
  useEffect(() => {
    const element = host.current!;
    const observer = new ResizeObserver(() => {
      const style = getComputedStyle(element);
      const padding = Number.parseFloat(style.paddingLeft);
      setSize({ width: element.clientWidth - 2 * padding, height: element.clientHeight - 2 * padding });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const layout = useLayout(nodes, size);
  const indexOf = useMemo(() => new Map(layout?.boxes.map((box, i) => [box.node.name, i])), [layout]);
  const painter = useRef<MapPainter>(null);
  useEffect(() => {
    painter.current ??= new MapPainter();
    if (layout) painter.current.prepare(layout, { jobs, mode, isDark: theme === 'dark' });
  }, [layout, jobs, mode, theme]);
  useEffect(() => {
    if (layout && canvas.current) painter.current?.show(canvas.current, lit);
  }, [layout, jobs, mode, theme, lit]);

  const spotAt = (index: number, gpu: number): Spot | null => {
    const box = layout?.boxes[index];
    if (!box) return null;
    const owner = gpuOwners(box.node, jobs)[gpu];
    return { node: box.node, gpu, job: typeof owner === 'object' ? (owner ?? null) : null };
  };
  const find = (event: PointerEvent | React.MouseEvent): Spot | null => {
    if (!layout) return null;
    const hit = hitTest(layout, event.nativeEvent.offsetX, event.nativeEvent.offsetY);
    return hit && spotAt(hit.index, Math.max(0, hit.gpu));
  };
  // Within one GPU the pointer changes nothing.
  const point = (found: Spot | null): void => {
    if (found?.node !== spot?.node || found?.gpu !== spot?.gpu) onSpot(found);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!layout) return;
    const at = (spot && indexOf.get(spot.node.name)) ?? -1;
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 5, ArrowUp: -5 };
    const step = steps[event.key];
    const walk = (to: Spot | null): void => (isKept ? onKeep(to) : onSpot(to));
    if (event.key === 'Enter' && spot) onOpen(spot);
    else if (event.key === 'Escape' && isKept) onKeep(null);
    else if (event.key === ' ' && spot) onKeep(isKept ? null : spot);
    else if (event.key === '[' && spot) walk(spotAt(at, Math.max(0, spot.gpu - 1)));
    else if (event.key === ']' && spot) walk(spotAt(at, Math.min(spot.node.gpus - 1, spot.gpu + 1)));
    else if (step !== undefined) walk(spotAt(Math.max(0, Math.min(layout.boxes.length - 1, at + step)), 0));
    else return;
    event.preventDefault();
  };
  return (
    <div className="map-canvas" ref={host}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${nodes.length} nodes by zone and leaf; arrow keys walk them, [ and ] their GPUs, space keeps one, Enter opens`}
        onPointerMove={(event) => point(find(event))}
        onPointerLeave={() => onSpot(null)}
        onClick={(event) => onKeep(find(event))}
        onDoubleClick={(event) => {
          const found = find(event);
          if (found) onOpen(found);
        }}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
