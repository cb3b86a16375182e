import { expect, it } from 'vitest';
import { atLeast, healthOf, silentSince } from '../src/lib/silence';
import { event, node, t0 } from './builders';

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
