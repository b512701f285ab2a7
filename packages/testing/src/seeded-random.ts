/** Random numbers from a seed (mulberry32). The same seed makes the same choices. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from));
  }

  pick<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.between(0, values.length)] ?? values[0];
  }

  /** Creates a separate source, one per actor, so that the order in which actors run does not affect their choices. */
  fork(): SeededRandom {
    return new SeededRandom(this.between(0, 2 ** 32));
  }
}
