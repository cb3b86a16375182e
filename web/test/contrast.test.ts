import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

// Each colour of text against each ground it stands on, light and dark: WCAG's AA asks for 4.5.
const css = readFileSync(join(import.meta.dirname, '../src/styles/tokens.css'), 'utf8');
const faces = new Map<string, [light: string, dark: string]>();
for (const [, name, light, dark] of css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)) {
  faces.set(name!, [light!, dark!]);
}

function luminance(hex: string): number {
  const channels = [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255);
  const [red, green, blue] = channels.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(a: string, b: string): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light! + 0.05) / (dark! + 0.05);
}

const inks = ['ink', 'ink-2', 'ink-3', 'accent', 'running', 'queued', 'suspended', 'succeeded', 'failed', 'stopped', 'held', 'lost'];
const grounds = ['paper', 'surface', 'raised', 'hover'];

describe.each([['light', 0], ['dark', 1]] as const)('%s colours', (_, face) => {
  it.each(inks)('%s can be read', (ink) => {
    const worst = Math.min(...grounds.map((ground) => contrast(faces.get(ink)![face], faces.get(ground)![face])));
    expect(worst).toBeGreaterThanOrEqual(4.5);
  });
  it('can be read on what is filled', () => {
    expect(contrast(faces.get('accent-ink')![face], faces.get('accent')![face])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(faces.get('surface')![face], faces.get('held')![face])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(faces.get('ink-2')![face], faces.get('sunken')![face])).toBeGreaterThanOrEqual(4.5);
    expect(contrast(faces.get('accent')![face], faces.get('accent-wash')![face])).toBeGreaterThanOrEqual(4.5);
  });
});
