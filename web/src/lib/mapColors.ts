import type { Job, Node } from '../api/types';

// The colour of a GPU on the map, by what one wants to see.
export const colorModes = ['job', 'user', 'priority', 'health', 'utilisation', 'temperature'] as const;
export type ColorMode = (typeof colorModes)[number];

export interface Palette {
  isDark: boolean;
  free: string;
  reserved: string;
  closed: string;
  broken: string;
  suspect: string;
  running: string;
  warn: string;
}

// Neighbouring numbers give colours far apart on the wheel.
export function hueColor(seed: number, isDark: boolean): string {
  const hue = (seed * 137.508) % 360;
  const light = isDark ? 0.62 + 0.1 * ((seed % 3) / 2) : 0.58 + 0.1 * ((seed % 3) / 2);
  return `oklch(${light.toFixed(3)} 0.115 ${hue.toFixed(1)})`;
}

export function hashOf(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; i += 1) hash = (hash * 31 + text.charCodeAt(i)) % 65_521;
  return hash;
}

// Blue over cyan to green, and ever lighter or darker: readable without telling red from green, and nowhere near the
// amber of what is closed, the red of what is down and the pink of what is silent.
export function heatColor(part: number, isDark: boolean): string {
  const x = Math.max(0, Math.min(1, part));
  const light = isDark ? 0.3 + 0.5 * x : 0.9 - 0.45 * x;
  return `oklch(${light.toFixed(3)} ${(0.04 + 0.12 * x).toFixed(3)} ${(255 - 95 * x).toFixed(0)})`;
}

const priorityRank: Record<string, number> = {
  extreme_high: 1, very_high: 0.9, high: 0.75, above_normal: 0.6, normal: 0.45, under_normal: 0.35, below_normal: 0.25, low: 0.1, auto: 0.45,
};

function healthColor(node: Node, isUsed: boolean, palette: Palette): string {
  if (node.liveness === 'down' || node.health === 'fail') return palette.broken;
  if (node.liveness === 'suspect' || node.health === 'warn') return palette.warn;
  if (node.scheduling !== 'open') return palette.closed;
  return isUsed ? palette.running : palette.free;
}

function idleColor(node: Node, palette: Palette): string {
  if (node.liveness === 'down') return palette.broken;
  if (node.liveness === 'suspect') return palette.suspect;
  return node.scheduling === 'open' ? palette.free : palette.closed;
}

export function gpuColor(mode: ColorMode, node: Node, gpu: number, owner: Job | number | null, palette: Palette): string {
  if (mode === 'health') return healthColor(node, owner !== null, palette);
  if (mode === 'utilisation' || mode === 'temperature') {
    const value = mode === 'utilisation' ? node.gpu_utilization?.[gpu] : node.gpu_temperature?.[gpu];
    // What a silent node said last is not what is.
    if (value === undefined || value === null || node.liveness !== 'up') return idleColor(node, palette);
    return heatColor(mode === 'utilisation' ? value / 100 : (value - 30) / 55, palette.isDark);
  }
  if (owner === null) return idleColor(node, palette);
  if (typeof owner === 'number') return hueColor(owner, palette.isDark);
  if (mode === 'user') return hueColor(hashOf(owner.user), palette.isDark);
  if (mode === 'priority') return heatColor(priorityRank[owner.priority] ?? 0.4, palette.isDark);
  return hueColor(owner.id, palette.isDark);
}
