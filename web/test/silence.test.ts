import { expect, it } from 'vitest';
import { atLeast, healthOf, lostSince, silentSince, unheard } from '../src/lib/silence';
import { at, event, job, node, t0 } from './builders';

const silent = node({ liveness: 'suspect', health: 'ok', reason: 'silent for 1m 10s' });

it('counts a silence from the event that told of it', () => {
  const events = [
    event('node_liveness_changed', 'node/n1', 100, { liveness: 'suspect', reason: 'silent for 1m 10s' }),
    event('node_liveness_changed', 'node/n1', 20, { liveness: 'up', reason: '' }),
  ];
  expect(silentSince(silent, events)).toBe(t0 + 30_000);
  expect(silentSince(silent, [])).toBeNull();
  expect(silentSince(node({ reason: 'new fan' }), events)).toBeNull();
});

it('does not repeat an old measurement as if it were of now', () => {
  expect(atLeast('silent for 40s')).toBe('silent for more than 40s');
  expect(atLeast('new fan')).toBe('new fan');
  expect(atLeast(null)).toBe('');
});

it('calls the health of a silent node unknown', () => {
  expect(healthOf(silent)).toBe('unknown');
  expect(healthOf(node({ health: 'warn' }))).toBe('warn');
});

it('names the nodes that have fallen silent since a time', () => {
  const events = [
    event('node_liveness_changed', 'node/n3', 300, { liveness: 'up' }),
    event('node_liveness_changed', 'node/n2', 200, { liveness: 'down' }),
    event('node_liveness_changed', 'node/n2', 150, { liveness: 'suspect' }),
    event('node_liveness_changed', 'node/n1', 50, { liveness: 'suspect' }),
  ];
  expect(lostSince(events, at(100))).toEqual(['n2']);
  expect(lostSince(events, at(10))).toEqual(['n1', 'n2']);
  expect(lostSince(events, at(250))).toEqual([]);
  expect(lostSince(events, null)).toEqual([]);
});

it('says of a running job only that nothing is heard of its nodes', () => {
  const running = job({ state: 'running', nodes: ['n1', 'n2'] });
  expect(unheard(running, [silent])).toBe('Nothing is heard of n1: whether it still runs there is not known');
  expect(unheard(running, Array.from({ length: 60 }, (_, i) => node({ name: `n${2 * i}` })))).toContain('of 60 of its nodes:');
  expect([unheard(running, []), unheard(running, undefined), unheard(job({ state: 'suspended' }), [silent])]).toEqual(['', '', '']);
});
