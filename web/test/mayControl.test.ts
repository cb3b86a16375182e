import { expect, it } from 'vitest';
import { mayControl } from '../src/lib/mayControl';
import { job } from './builders';

it('offers to control a job to its owner and to operators', () => {
  const bens = job({ user: 'ben' });
  expect(mayControl({ user: 'ben', role: 'user' }, bens)).toBe(true);
  expect(mayControl({ user: 'ann', role: 'operator' }, bens)).toBe(true);
  expect(mayControl({ user: 'ann', role: 'admin' }, bens)).toBe(true);
  expect(mayControl({ user: 'ann', role: 'user' }, bens)).toBe(false);
  expect(mayControl(undefined, bens)).toBe(false);
});
