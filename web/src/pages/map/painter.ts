import type { Job, Node } from '../../api/types';
import { cssColor } from '../../lib/css';
import { gpuOwners } from '../../lib/gpuOwners';
import { type ColorMode, gpuColor, type Palette } from '../../lib/mapColors';
import type { MapLayout } from '../../lib/mapLayout';

// Draws the map: once what is there, on two pictures, as it is and dimmed; and then, whenever another job
// lights up, one of the pictures and the tiles of that job alone. 100,000 tiles take longer than a frame.

export interface Look {
  jobs: ReadonlyMap<number, Job>;
  mode: ColorMode;
  isDark: boolean;
}

const dimmed = 0.22;

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

interface Tile {
  x: number;
  y: number;
  color: string;
}

export class MapPainter {
  private readonly bright = document.createElement('canvas');
  private readonly dim = document.createElement('canvas');
  private readonly tiles = new Map<number, Tile[]>(); // of each job
  private layout: MapLayout | null = null;

  prepare(layout: MapLayout, look: Look): void {
    this.layout = layout;
    this.tiles.clear();
    // The tiles first without their frame, to be laid dimmed onto the other picture.
    const bright = this.begin(this.bright);
    this.drawTiles(bright, layout, look);
    const dim = this.begin(this.dim);
    dim.globalAlpha = dimmed;
    dim.drawImage(this.bright, 0, 0, layout.width, heightOf(layout));
    dim.globalAlpha = 1;
    drawFrame(dim, layout);
    drawFrame(bright, layout);
  }

  // The job whose ranks stand out; null = none.
  show(canvas: HTMLCanvasElement, lit: number | null): void {
    const { layout } = this;
    if (!layout) return;
    const context = this.begin(canvas);
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${heightOf(layout)}px`;
    context.drawImage(lit === null ? this.bright : this.dim, 0, 0, layout.width, heightOf(layout));
    for (const { x, y, color } of (lit !== null && this.tiles.get(lit)) || []) {
      context.fillStyle = color;
      context.fillRect(x, y, layout.tile, layout.tile);
    }
  }

  // Empty, of the layout's size.
  private begin(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const layout = this.layout!;
    const scale = devicePixelRatio || 1;
    const [width, height] = [Math.round(layout.width * scale), Math.round(heightOf(layout) * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext('2d')!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, layout.width, heightOf(layout));
    return context;
  }

  private drawTiles(context: CanvasRenderingContext2D, layout: MapLayout, { jobs, mode, isDark }: Look): void {
    const palette = readPalette(isDark);
    const colorOf = keepColors(mode, palette);
    const pitch = layout.tile + layout.gap;
    let last = '';
    for (const box of layout.boxes) {
      const owners = gpuOwners(box.node, jobs);
      for (let gpu = 0; gpu < owners.length; gpu += 1) {
        const owner = owners[gpu] ?? null;
        const color = colorOf(box.node, gpu, owner);
        const [x, y] = [box.x + (gpu % layout.gpuColumns) * pitch, box.y + Math.floor(gpu / layout.gpuColumns) * pitch];
        if (color !== last) context.fillStyle = last = color; // to read a colour takes longer than to draw a tile
        context.fillRect(x, y, layout.tile, layout.tile);
        if (owner !== null) this.keep(typeof owner === 'object' ? owner.id : owner, { x, y, color });
      }
    }
  }

  private keep(job: number, tile: Tile): void {
    const list = this.tiles.get(job);
    if (list) list.push(tile);
    else this.tiles.set(job, [tile]);
  }
}

const heightOf = (layout: MapLayout): number => Math.max(layout.height, 40);

// Where the colour is the job's alone, it is made once for each job.
function keepColors(mode: ColorMode, palette: Palette): (node: Node, gpu: number, owner: Job | number | null) => string {
  const known = new Map<number, string>();
  const isOfJob = mode === 'job' || mode === 'user' || mode === 'priority';
  return (node, gpu, owner) => {
    if (!isOfJob || owner === null) return gpuColor(mode, node, gpu, owner, palette);
    const id = typeof owner === 'object' ? owner.id : owner;
    const color = known.get(id) ?? gpuColor(mode, node, gpu, owner, palette);
    known.set(id, color);
    return color;
  };
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
