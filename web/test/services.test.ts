import { expect, it } from 'vitest';
import { servicesBase } from '../src/lib/services';

it('has the port of the server and the host of this page', () => {
  const here = { hostname: 'hai.example' };
  expect(servicesBase('https://server-1:7781', here)).toBe('https://hai.example:7781');
  expect(servicesBase('https://[::1]:7781', { hostname: '[::1]' })).toBe('https://[::1]:7781');
  expect(servicesBase('', here)).toBe('');
  expect(servicesBase('nonsense', here)).toBe('');
});
