import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useTheme } from '../../app/theme';
import type { Job, Node } from '../../api/types';
import { cssColor } from '../../lib/css';
import { gpuOwners } from '../../lib/gpuOwners';
import { type ColorMode, gpuColor, type Palette } from '../../lib/mapColors';
import { hitTest, layoutMap, type MapLayout } from '../../lib/mapLayout';

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

function readPalette(isDark: boolean): Palette {
  return {
    isDark,
    free: cssColor('--gpu-free'),
    reserved: cssColor('--gpu-reserved'),
    closed: cssColor('--gpu-draining'),
    broken: cssColor('--gpu-broken'),
    suspect: cssColor('--lost'),
    running: cssColor('--gpu-used'),
    warn: cssColor('--gpu-draining'),
  };
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
  const layout = useMemo(
    () => (size.width > 0 ? layoutMap(nodes, size.width, size.height, rem() / 14) : null),
    [nodes, size.width, size.height],
  );
  useEffect(() => {
    if (layout && canvas.current) draw(canvas.current, layout, { jobs, mode, lit, palette: readPalette(theme === 'dark') });
  }, [layout, jobs, mode, lit, theme]);

  const spotAt = (index: number, gpu: number): Spot | null => {
    const box = layout?.boxes[index];
    if (!box) return null;
    const owner = gpuOwners(box.node, jobs)[gpu];
    return { node: box.node, gpu, job: typeof owner === 'object' ? (owner ?? null) : null };
  };
  const find = (event: PointerEvent | React.MouseEvent): Spot | null => {
    if (!layout) return null;
    const hit = hitTest(layout, event.nativeEvent.offsetX, event.nativeEvent.offsetY);
    return hit && spotAt(layout.boxes.indexOf(hit.box), Math.max(0, hit.gpu));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!layout) return;
    const at = layout.boxes.findIndex((box) => box.node.name === spot?.node.name);
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
        onPointerMove={(event) => onSpot(find(event))}
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

interface Look {
  jobs: ReadonlyMap<number, Job>;
  mode: ColorMode;
  lit: number | null;
  palette: Palette;
}

const dimmed = 0.22;

function draw(canvas: HTMLCanvasElement, layout: MapLayout, look: Look): void {
  const scale = devicePixelRatio || 1;
  const height = Math.max(layout.height, 40);
  if (canvas.width !== Math.round(layout.width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(layout.width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d')!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, layout.width, height);
  drawFrame(context, layout);
  const pitch = layout.tile + layout.gap;
  for (const box of layout.boxes) {
    const owners = gpuOwners(box.node, look.jobs);
    for (let gpu = 0; gpu < owners.length; gpu += 1) {
      const owner = owners[gpu] ?? null;
      const id = typeof owner === 'object' ? owner?.id : owner;
      context.globalAlpha = look.lit === null || id === look.lit ? 1 : dimmed;
      context.fillStyle = gpuColor(look.mode, box.node, gpu, owner, look.palette);
      context.fillRect(
        box.x + (gpu % layout.gpuColumns) * pitch,
        box.y + Math.floor(gpu / layout.gpuColumns) * pitch,
        layout.tile,
        layout.tile,
      );
    }
  }
  context.globalAlpha = 1;
}

function drawFrame(context: CanvasRenderingContext2D, layout: MapLayout): void {
  context.strokeStyle = cssColor('--line');
  for (const box of layout.leafBoxes) {
    context.beginPath();
    context.roundRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, 3);
    context.stroke();
  }
  const ink = cssColor('--ink-3');
  const strong = cssColor('--ink');
  for (const label of layout.labels) {
    context.fillStyle = label.kind === 'zone' ? strong : ink;
    context.font = label.kind === 'zone' ? `600 ${13 * layout.scale}px 'Geist Variable', sans-serif` : `${10 * layout.scale}px 'Geist Variable', sans-serif`;
    context.fillText(label.text, label.x, label.y);
  }
}
