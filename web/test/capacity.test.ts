import { expect, it } from 'vitest';
import { capacityOf } from '../src/lib/capacity';
import { node } from './builders';

it('counts every GPU once: used, held, idle, closed, broken, silent', () => {
  // 10 nodes of 8: 4 in use, 1 of them silent; 1 down and empty; 1 drained; 1 broken; 1 promised; 2 idle.
  const gpus = { total: 80, used: 32, reserved: 0, free: 16, draining: 24, broken: 8 };
  const aside = [
    node({ name: 'n1', liveness: 'suspect', gpus_free: 0, gpu_jobs: Array<number>(8).fill(1) }),
    node({ name: 'n2', liveness: 'down', gpus_free: 0 }),
    node({ name: 'n3', scheduling: 'drained', gpus_free: 0 }),
    node({ name: 'n4', scheduling: 'drained', health: 'fail', gpus_free: 0 }),
  ];
  expect(capacityOf(gpus, aside)).toEqual({ total: 80, used: 24, reserved: 8, idle: 16, closed: 8, broken: 8, silent: 16 });
});

it('calls nothing lost while nothing is', () => {
  const gpus = { total: 16, used: 8, reserved: 0, free: 8, draining: 0, broken: 0 };
  expect(capacityOf(gpus, [])).toEqual({ total: 16, used: 8, reserved: 0, idle: 8, closed: 0, broken: 0, silent: 0 });
});
