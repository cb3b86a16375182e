import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gpuColor, heatColor, type Palette } from '../src/lib/mapColors';
import { node } from './builders';

const css = readFileSync(join(import.meta.dirname, '../src/styles/tokens.css'), 'utf8');
const palette: Palette = { isDark: false, free: 'free', reserved: 'reserved', closed: 'closed', broken: 'broken', suspect: 'suspect', running: 'running', warn: 'warn' };

type Lab = [l: number, a: number, b: number];

function labOfHex(hex: string): Lab {
  const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as Lab;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

function labOfHeat(part: number, isDark: boolean): Lab {
  const [l, c, h] = /oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/.exec(heatColor(part, isDark))!.slice(1).map(Number) as Lab;
  return [l, c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180)];
}

const far = (a: Lab, b: Lab): number => Math.hypot(...a.map((each, i) => each - b[i]!));

describe.each([['light', 0], ['dark', 1]] as const)('%s', (_, face) => {
  it.each(['gpu-draining', 'gpu-broken', 'lost'])('has no heat that looks like --%s', (name) => {
    const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css)!;
    const status = labOfHex(found[1 + face]!);
    const least = Math.min(...Array.from({ length: 21 }, (_part, i) => far(labOfHeat(i / 20, face === 1), status)));
    expect(least).toBeGreaterThan(0.12);
  });
});

it('shows of a node that is silent or down that it is, and not what it said last', () => {
  const last = { gpu_utilization: [97], gpu_temperature: [80] };
  for (const mode of ['utilisation', 'temperature'] as const) {
    expect(gpuColor(mode, node({ ...last, liveness: 'suspect' }), 0, 5, palette)).toBe('suspect');
    expect(gpuColor(mode, node({ ...last, liveness: 'down' }), 0, null, palette)).toBe('broken');
    expect(gpuColor(mode, node(last), 0, 5, palette)).toMatch(/^oklch/);
  }
});
