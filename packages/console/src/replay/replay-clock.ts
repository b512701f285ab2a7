/** Available speeds. 1 is the original speed. */
export const SPEEDS = [0.5, 1, 2, 5, 20] as const;

/** Longer pauses of the original are shortened to this. */
export const MAX_PAUSE_MS = 2000;

/**
 * The timeline of a replay. Long pauses of the original are shortened: a night takes two seconds. Positions are milliseconds on
 * this timeline.
 */
export class ReplayClock {
  /** The position of each event, ascending. */
  readonly #positions: Float64Array;

  constructor(times: readonly number[]) {
    this.#positions = new Float64Array(times.length);
    for (let index = 1; index < times.length; index += 1) {
      const pause = (times[index] ?? 0) - (times[index - 1] ?? 0);
      this.#positions[index] = (this.#positions[index - 1] ?? 0) + Math.min(Math.max(pause, 0), MAX_PAUSE_MS);
    }
  }

  get duration(): number {
    return this.#positions.at(-1) ?? 0;
  }

  /** Number of events up to a position. */
  countAt(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#positions[middle] ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The position of the n-th event, counted from 0. */
  positionOf(index: number): number {
    return this.#positions[Math.min(Math.max(index, 0), this.#positions.length - 1)] ?? 0;
  }
}

/** `0:05`, `12:34`, `1:02:03`. */
export function formatPosition(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}
