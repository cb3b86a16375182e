import { describe, expect, it } from 'vitest';
import { gpuOwners, gpuWords } from '../src/lib/gpuOwners';
import { hitTest, layoutMap, withNodes } from '../src/lib/mapLayout';
import { job, node } from './builders';

const cluster = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    node({ name: `n${i}`, zone: i < count / 2 ? 'A' : 'B', leaf: `leaf-${Math.floor(i / 20)}` }));

describe('layoutMap', () => {
  it('shows 10,000 GPUs at once on a laptop', () => {
    const layout = layoutMap(cluster(1250), 1050, 640);
    expect(layout.boxes).toHaveLength(1250);
    expect(layout.height).toBeLessThanOrEqual(640);
    expect(layout.tile).toBeGreaterThanOrEqual(3);
  });

  it('uses larger tiles on a wall', () => {
    expect(layoutMap(cluster(1250), 3400, 1900, 1.8).tile).toBeGreaterThan(layoutMap(cluster(1250), 1050, 640).tile);
  });

  it('lets no two nodes overlap', () => {
    const layout = layoutMap(cluster(300), 900, 500);
    const seen = new Set(layout.boxes.map((box) => `${box.x},${box.y}`));
    expect(seen.size).toBe(300);
  });

  it('finds each GPU where it is drawn', () => {
    const layout = layoutMap(cluster(45), 900, 500);
    for (const [index, box] of layout.boxes.entries()) {
      for (let gpu = 0; gpu < 8; gpu += 1) {
        const pitch = layout.tile + layout.gap;
        const x = box.x + (gpu % layout.gpuColumns) * pitch + layout.tile / 2;
        const y = box.y + Math.floor(gpu / layout.gpuColumns) * pitch + layout.tile / 2;
        expect(hitTest(layout, x, y)).toEqual({ index, gpu });
      }
    }
    expect(hitTest(layout, -50, -50)).toBeNull();
  });

  it('keeps its places while only what is known of the nodes changes', () => {
    const nodes = cluster(45);
    const layout = layoutMap(nodes, 900, 500);
    const next = withNodes(layout, nodes.map((each) => ({ ...each, liveness: 'down' as const })));
    expect(next?.boxes.map(({ x, y }) => [x, y])).toEqual(layout.boxes.map(({ x, y }) => [x, y]));
    expect(next?.boxes.every((box) => box.node.liveness === 'down')).toBe(true);
    expect(withNodes(layout, nodes.slice(1))).toBeNull();
    expect(withNodes(layout, [{ ...nodes[0]!, leaf: 'elsewhere' }, ...nodes.slice(1)])).toBeNull();
  });

  it('has room for a cluster of one node, and of none', () => {
    expect(layoutMap([node()], 400, 300).boxes).toHaveLength(1);
    expect(layoutMap([], 400, 300).boxes).toHaveLength(0);
  });
});

it('knows who has which GPU, by id where the job is not loaded', () => {
  const five = job({ id: 5 });
  const owners = gpuOwners(node({ gpus: 4, gpu_jobs: [null, 5, 5, 9] }), new Map([[5, five]]));
  expect(owners).toEqual([null, five, five, 9]);
});

it('calls no GPU free that is used by a job not loaded, closed, or not known', () => {
  const used = { gpu_jobs: [5, null], gpu_utilization: [97, 0], gpu_temperature: [60, 31] };
  expect([0, 1].map((gpu) => gpuWords(node(used), gpu))).toEqual(['in use, 97 %, 60 °C', 'free, 0 %, 31 °C']);
  expect(gpuWords(node({ ...used, scheduling: 'drained' }), 1)).toBe('idle, on a closed node, 0 %, 31 °C');
  expect([0, 1].map((gpu) => gpuWords(node({ ...used, liveness: 'down' }), gpu))).toEqual([
    'not known; in use, 97 %, 60 °C when it was last heard', 'not known; idle, 0 %, 31 °C when it was last heard',
  ]);
});
