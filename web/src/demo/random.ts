// Seeded, so that the demo looks the same each time: screenshots can be compared.
export class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
  // The first values often, the last ones rarely.
  pickSkewed<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() ** 2 * values.length)]!;
  }
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }
}
