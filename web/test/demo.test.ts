import { expect, it } from 'vitest';
import type { Job, Node } from '../src/api/types';
import { checkpointsOf, clusterOf, runsOf, seriesOf, whyOf } from '../src/demo/answers';
import { madeLog, shortened } from '../src/demo/logs';
import { placeTogether } from '../src/demo/placement';
import { usageOf } from '../src/demo/queueAnswers';
import { World } from '../src/demo/world';
import { node } from './builders';

const leaf = (zone: string, name: string, count: number): Node[] => Array.from({ length: count }, (_, i) => node({ name: `${name}-${i}`, zone, leaf: name }));
const where = (nodes: Node[] | null): string[] | undefined => nodes?.map((each) => each.leaf);

const placed: { leaves: number; fewest: number; nodes: number }[] = [];

// Notes of each job of whole nodes on how many leaves it was put, and on how many of what was free it could have been.
class Watched extends World {
  override start(job: Job, nodes: Node[]): void {
    if (job.gpus_per_node === 0) {
      const free = this.nodes.filter((each) => each.group === job.group && each.gpus_free === 8 && each.liveness === 'up' && each.scheduling === 'open');
      const fewest = ['A', 'B'].map((zone) => {
        const sizes = new Map<string, number>();
        for (const each of free) if (each.zone === zone) sizes.set(each.leaf, (sizes.get(each.leaf) ?? 0) + 1);
        let [left, leaves] = [job.node_count, 0];
        for (const size of [...sizes.values()].sort((a, b) => b - a)) if (left > 0) [left, leaves] = [left - size, leaves + 1];
        return left > 0 ? Infinity : leaves;
      });
      placed.push({ leaves: new Set(nodes.map((each) => each.leaf)).size, fewest: Math.min(...fewest), nodes: job.node_count });
    }
    super.start(job, nodes);
  }
}

// To look at; each is seconds of work.
let one: World | null = null;
const made = (): World => (one ??= new Watched(3_000));

it('takes the fullest leaf that fits, else the fewest leaves of one zone', () => {
  const free = [...leaf('A', 'a1', 3), ...leaf('A', 'a2', 2), ...leaf('B', 'b1', 1), ...leaf('B', 'b2', 4)];
  expect(where(placeTogether(free, 2))).toEqual(['a2', 'a2']);
  expect(where(placeTogether(free, 5))).toEqual(['a1', 'a1', 'a1', 'a2', 'a2']);
  expect(where(placeTogether(free, 4))).toEqual(['b2', 'b2', 'b2', 'b2']);
  expect(placeTogether(free, 6)).toBeNull();
});

it('lets no job of the demo cross zones, hold a closed node or more GPUs than there are', { timeout: 30_000 }, () => {
  const world = made();
  for (const id of world.running.keys()) {
    const job = world.jobs.get(id)!;
    expect(job.nodes).toHaveLength(job.node_count);
    expect(new Set(job.nodes.map((name) => world.byName.get(name)!.zone)).size).toBe(1);
  }
  for (const each of world.nodes) expect(each.gpus_free).toBeGreaterThanOrEqual(0);
});

it('puts each job of the demo on the fewest leaves that were free', { timeout: 60_000 }, () => {
  made();
  expect(placed.filter(({ nodes }) => nodes >= 64).length).toBeGreaterThan(10);
  for (const { leaves, fewest } of placed) expect(leaves).toBe(fewest);
});

it('says of jobs of the demo that wait how many nodes could take them, never enough of one zone, and whose leaving would do', { timeout: 60_000 }, () => {
  const world = made();
  let checked = 0;
  for (const id of world.waiting) {
    const job = world.jobs.get(id)!;
    if (job.gpus_per_node > 0 || job.held || job.pending_reason?.code !== 'resources') continue;
    const said = Number(/; (\d+) of \d+ open nodes/.exec(job.pending_reason.text)![1]);
    const free = world.nodes.filter((each) => each.group === job.group && each.gpus_free === 8 && each.liveness === 'up' && each.scheduling === 'open');
    expect(said).toBe(free.length);
    const held = whyOf(world, job).facts.map(({ holders }) => world.jobs.get(Number(holders[0]!.slice(4)))!);
    expect(held.reduce((sum, each) => sum + each.node_count, 0)).toBeGreaterThanOrEqual(job.node_count);
    expect(new Set(held.map((each) => world.byName.get(each.nodes[0]!)!.zone)).size).toBe(1);
    for (const zone of ['A', 'B']) expect(free.filter((each) => each.zone === zone).length).toBeLessThan(job.node_count);
    checked += 1;
  }
  expect(checked).toBeGreaterThan(100);
});

it('saves the demo\'s checkpoints only while their attempt runs, at steps that its ranks come to', { timeout: 30_000 }, () => {
  const world = made();
  let suspended = 0;
  for (const id of world.running.keys()) {
    const job = world.jobs.get(id)!;
    const runs = runsOf(world, job);
    const { checkpoints } = checkpointsOf(world, job);
    for (const { attempt, at } of checkpoints) {
      const run = runs.find((each) => each.attempt === attempt)!;
      expect(Date.parse(at)).toBeGreaterThanOrEqual(Math.floor(run.from));
      expect(Date.parse(at)).toBeLessThanOrEqual(run.until);
    }
    if (checkpoints.length > 0 && runs.length > 1) suspended += 1;
    const step = usageOf(world, job, new URLSearchParams()).ranks.find(({ rank }) => rank === 0)?.step.at(-1);
    if (checkpoints[0] && step != null) expect(step).toBeGreaterThanOrEqual(checkpoints[0].step);
  }
  expect(suspended).toBeGreaterThan(0);
});

it('lets no job of the demo start later at even odds than in nine of ten cases, nor wait for a quota that it fits into', { timeout: 30_000 }, () => {
  const world = made();
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
  const world = made();
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
