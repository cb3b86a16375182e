import type { Node } from '../api/types';

// Where each GPU of the cluster is drawn: zones side by side, in each its leaves in reading order, in
// each leaf its nodes, in each node its GPUs. The largest tile is taken with which all fits.

interface NodeBox {
  node: Node;
  x: number;
  y: number;
}
export interface Label {
  text: string;
  x: number;
  y: number;
  kind: 'zone' | 'leaf';
}
// A leaf's nodes are boxes `first` to `first + count - 1`, in rows of `columns`, `pitch` apart.
interface LeafBox {
  x: number;
  y: number;
  width: number;
  height: number;
  first: number;
  count: number;
  columns: number;
  insideX: number; // of its first node
  insideY: number;
  pitchX: number;
  pitchY: number;
}
export interface MapLayout {
  tile: number;
  gap: number;
  gpuColumns: number;
  nodeWidth: number;
  nodeHeight: number;
  boxes: NodeBox[];
  labels: Label[];
  leafBoxes: LeafBox[];
  width: number;
  height: number;
  scale: number; // of labels and gaps: 1 on a laptop
  isTooWide: boolean; // a leaf is wider than its zone's room and would lie on the next zone
}

interface Leaf {
  name: string;
  nodes: Node[];
}
interface Zone {
  name: string;
  leaves: Leaf[];
}

const byName = new Intl.Collator('en', { numeric: true }).compare;

function groupByPlace(nodes: readonly Node[]): Zone[] {
  const zones = new Map<string, Map<string, Node[]>>();
  for (const node of nodes) {
    const leaves = zones.get(node.zone) ?? new Map<string, Node[]>();
    zones.set(node.zone, leaves);
    const list = leaves.get(node.leaf);
    if (list) list.push(node);
    else leaves.set(node.leaf, [node]);
  }
  return [...zones]
    .sort((a, b) => byName(a[0], b[0]))
    .map(([name, leaves]) => ({
      name,
      leaves: [...leaves]
        .sort((a, b) => byName(a[0], b[0]))
        .map(([leaf, members]) => ({
          name: leaf,
          nodes: members.sort((a, b) => byName(a.name, b.name)),
        })),
    }));
}

const zoneGap = 28;
const zoneTitle = 24;
const leafGap = 6;
const leafGapMax = 40;
const tileMax = 34; // of a handful of nodes; 1,250 take what fits
const leafPadding = 5;
const leafTitle = 15;

export function layoutMap(nodes: readonly Node[], width: number, height: number, scale = 1): MapLayout {
  const zones = groupByPlace(nodes);
  const gpus = nodes.reduce((most, node) => Math.max(most, node.gpus), 1);
  for (let tile = Math.round(tileMax * scale); ; tile -= 1) {
    const layout = layoutWith(zones, { width, tile, scale, gpus, withBoxes: false });
    if ((layout.height <= height && !layout.isTooWide) || tile <= 3) return layoutWith(zones, { width, tile, scale, gpus, withBoxes: true });
  }
}

// The same layout with what is known of its nodes now; null if these are others, or elsewhere.
export function withNodes(layout: MapLayout, nodes: readonly Node[]): MapLayout | null {
  if (nodes.length !== layout.boxes.length) return null;
  const named = new Map(nodes.map((node) => [node.name, node]));
  const boxes: NodeBox[] = [];
  for (const box of layout.boxes) {
    const node = named.get(box.node.name);
    if (!node || node.zone !== box.node.zone || node.leaf !== box.node.leaf || node.gpus !== box.node.gpus) return null;
    boxes.push({ ...box, node });
  }
  return { ...layout, boxes };
}

interface Attempt {
  width: number;
  tile: number;
  scale: number;
  gpus: number; // of the largest node
  withBoxes: boolean; // else only how large it becomes
}

function layoutWith(zones: Zone[], { width, tile, scale, gpus, withBoxes }: Attempt): MapLayout {
  const gap = tile >= 6 ? 1.5 : 1;
  const gpuColumns = gpus <= 4 ? gpus : Math.ceil(gpus / 2);
  const gpuRows = Math.ceil(gpus / gpuColumns);
  const nodeWidth = gpuColumns * (tile + gap) - gap;
  const nodeHeight = gpuRows * (tile + gap) - gap;
  const layout: MapLayout = {
    tile, gap, gpuColumns, nodeWidth, nodeHeight, boxes: [], labels: [], leafBoxes: [], width, height: 0, scale, isTooWide: false,
  };
  const total = zones.reduce((sum, zone) => sum + zone.leaves.length, 0);
  let x = 0;
  for (const zone of zones) {
    // In proportion to the leaves, so that zones of different size end at the same height.
    const room = (width - scale * zoneGap * (zones.length - 1)) * (zone.leaves.length / Math.max(1, total));
    const bottom = layoutZone(layout, zone, { left: x, room, withBoxes });
    layout.height = Math.max(layout.height, bottom);
    x += room + scale * zoneGap;
  }
  return layout;
}

const columnsOf = (leaf: Leaf): number =>
  Math.min(leaf.nodes.length, Math.max(1, Math.ceil(Math.sqrt(leaf.nodes.length * 1.2))));

// Leaves of one row share what is left of its width, so that zones end where they should.
function leafGapFor(layout: MapLayout, zone: Zone, room: number, spacing: number, padding: number): number {
  const widest = Math.max(1, ...zone.leaves.map(columnsOf)) * (layout.nodeWidth + spacing) - spacing + 2 * padding;
  const least = leafGap * layout.scale;
  const perRow = Math.max(1, Math.floor((room + least) / (widest + least)));
  if (perRow < 2 || zone.leaves.length < perRow) return least;
  return Math.min(leafGapMax * layout.scale, (room - perRow * widest) / (perRow - 1));
}

function layoutZone(layout: MapLayout, zone: Zone, { left, room, withBoxes }: { left: number; room: number; withBoxes: boolean }): number {
  layout.labels.push({ text: `zone ${zone.name}`, x: left, y: 13 * layout.scale, kind: 'zone' });
  const spacing = Math.max(3, Math.round(layout.tile / 2));
  const padding = leafPadding * layout.scale;
  const hasTitles = layout.tile >= 4 * layout.scale;
  const title = hasTitles ? leafTitle * layout.scale : padding;
  const gap = leafGapFor(layout, zone, room, spacing, padding);
  let x = left;
  let y = zoneTitle * layout.scale;
  let rowHeight = 0;
  for (const leaf of zone.leaves) {
    const columns = columnsOf(leaf);
    const rows = Math.ceil(leaf.nodes.length / columns);
    const boxWidth = columns * (layout.nodeWidth + spacing) - spacing + 2 * padding;
    const boxHeight = rows * (layout.nodeHeight + spacing) - spacing + 2 * padding + title;
    if (x > left && x + boxWidth > left + room + 0.5) {
      x = left;
      y += rowHeight + leafGap * layout.scale;
      rowHeight = 0;
    }
    if (boxWidth > room + 0.5) layout.isTooWide = true;
    layout.leafBoxes.push({
      x, y, width: boxWidth, height: boxHeight, first: layout.boxes.length, count: leaf.nodes.length, columns,
      insideX: x + padding, insideY: y + title + padding, pitchX: layout.nodeWidth + spacing, pitchY: layout.nodeHeight + spacing,
    });
    if (hasTitles) layout.labels.push({ text: leaf.name, x: x + padding, y: y + 13 * layout.scale, kind: 'leaf' });
    if (withBoxes) leaf.nodes.forEach((node, i) => {
      layout.boxes.push({
        node,
        x: x + padding + (i % columns) * (layout.nodeWidth + spacing),
        y: y + title + padding + Math.floor(i / columns) * (layout.nodeHeight + spacing),
      });
    });
    x += boxWidth + gap;
    rowHeight = Math.max(rowHeight, boxHeight);
  }
  return y + rowHeight;
}

interface Hit {
  index: number; // of the box
  gpu: number; // -1: below the last one
}

// By the leaf that is hit: a pointer that moves asks this for each frame.
export function hitTest(layout: MapLayout, x: number, y: number): Hit | null {
  const slack = 1;
  const leaf = layout.leafBoxes.find((box) => x >= box.x && y >= box.y && x <= box.x + box.width && y <= box.y + box.height);
  if (!leaf) return null;
  const [column, row] = [Math.floor((x - leaf.insideX + slack) / leaf.pitchX), Math.floor((y - leaf.insideY + slack) / leaf.pitchY)];
  const at = row * leaf.columns + column;
  if (column < 0 || row < 0 || column >= leaf.columns || at >= leaf.count) return null;
  const [dx, dy] = [x - leaf.insideX - column * leaf.pitchX, y - leaf.insideY - row * leaf.pitchY];
  if (dx > layout.nodeWidth + slack || dy > layout.nodeHeight + slack) return null;
  const pitch = layout.tile + layout.gap;
  const gpuColumn = Math.min(layout.gpuColumns - 1, Math.max(0, Math.floor(dx / pitch)));
  const gpu = Math.max(0, Math.floor(dy / pitch)) * layout.gpuColumns + gpuColumn;
  return { index: leaf.first + at, gpu: gpu < layout.boxes[leaf.first + at]!.node.gpus ? gpu : -1 };
}
