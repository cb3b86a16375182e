import { expect, it } from 'vitest';
import type { Node } from '../src/api/types';
import { clusterOf, seriesOf, whyOf } from '../src/demo/answers';
import { madeLog, shortened } from '../src/demo/logs';
import { placeTogether } from '../src/demo/placement';
import { World } from '../src/demo/world';
import { node } from './builders';

const leaf = (zone: string, name: string, count: number): Node[] => Array.from({ length: count }, (_, i) => node({ name: `${name}-${i}`, zone, leaf: name }));
const where = (nodes: Node[] | null): string[] | undefined => nodes?.map((each) => each.leaf);

it('takes the fullest leaf that fits, else the fewest leaves of one zone', () => {
  const free = [...leaf('A', 'a1', 3), ...leaf('A', 'a2', 2), ...leaf('B', 'b1', 1), ...leaf('B', 'b2', 4)];
  expect(where(placeTogether(free, 2))).toEqual(['a2', 'a2']);
  expect(where(placeTogether(free, 5))).toEqual(['a1', 'a1', 'a1', 'a2', 'a2']);
  expect(where(placeTogether(free, 4))).toEqual(['b2', 'b2', 'b2', 'b2']);
  expect(placeTogether(free, 6)).toBeNull();
});

it('lets no job of the demo cross zones, hold a closed node or more GPUs than there are', { timeout: 30_000 }, () => {
  const world = new World(3_000);
  for (const id of world.running.keys()) {
    const job = world.jobs.get(id)!;
    expect(job.nodes).toHaveLength(job.node_count);
    expect(new Set(job.nodes.map((name) => world.byName.get(name)!.zone)).size).toBe(1);
  }
  for (const each of world.nodes) expect(each.gpus_free).toBeGreaterThanOrEqual(0);
});

it('lets no job of the demo start later at even odds than in nine of ten cases, nor wait for a quota that it fits into', { timeout: 30_000 }, () => {
  const world = new World(3_000);
  let waitForQuotas = 0;
  for (const id of world.waiting) {
    const job = world.jobs.get(id)!;
    const { start_p50, start_p90 } = whyOf(world, job);
    expect(Date.parse(start_p90!)).toBeGreaterThan(Date.parse(start_p50!));
    if (job.pending_reason?.code !== 'quota') continue;
    waitForQuotas += 1;
    const [, group, nodes, used, asked] = /in (\w+)\/\w+: (\d+) nodes, (\d+) used, (\d+) asked$/.exec(job.pending_reason.text)!;
    expect(group).toBe(job.group);
    expect(Number(used) + Number(asked)).toBeGreaterThan(Number(nodes));
  }
  expect(waitForQuotas).toBeGreaterThan(10);
});

it('ends the demo\'s curves with what its cluster has now', { timeout: 30_000 }, () => {
  const world = new World(3_000);
  const { gpus, jobs } = clusterOf(world);
  const series = seriesOf(world, '1h');
  const last = [series.gpus_used, series.gpus_free, series.jobs_queued, series.jobs_suspended].map((values) => values.at(-1));
  expect(last).toEqual([gpus.used, gpus.total - gpus.broken - gpus.draining - gpus.used, jobs.queued, jobs.suspended]);
  expect(series.at.at(-1)).toBe(world.time());
});

it('leaves out the first lines of a log that is too long for a test, and lets it go on', () => {
  const log = madeLog(0, 0, () => null);
  const at = 900 + 700 * 100; // 1,000 lines
  const short = shortened(log, 150, at);
  expect([short.lines(at), short.lines(at + 7_000)]).toEqual([150, 160]);
  expect(short.textOf(0)).toBe(log.textOf(850));
  expect(short.timeOf(149)).toBe(log.timeOf(999));
  expect(shortened(log, Infinity, at).lines(at)).toBe(1_000);
});
