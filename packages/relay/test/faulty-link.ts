import type { LinkFault } from "./memory-channel.ts";

export interface FaultRates {
  readonly drop: number;
  readonly duplicate: number;
  readonly reorder: number;
}

/** A small generator of reproducible random numbers from 0 to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A link that loses, repeats and reorders frames. A reordered frame is overtaken by 1 to 8 later ones. */
export function faultyLink({ drop, duplicate, reorder }: FaultRates, random: () => number): LinkFault {
  /** Frames that later ones overtake. */
  const held: { frame: Buffer; remaining: number; deliver: (frame: Buffer) => void }[] = [];
  const release = (isOver: (remaining: number) => boolean): void => {
    for (const entry of held.splice(0)) {
      entry.remaining -= 1;
      if (isOver(entry.remaining)) entry.deliver(entry.frame);
      else held.push(entry);
    }
  };
  return (frame, deliver) => {
    release((remaining) => remaining <= 0);
    if (random() < drop) return;
    const copies = random() < duplicate ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (random() < reorder) held.push({ frame, remaining: 1 + Math.floor(random() * 8), deliver });
      else deliver(frame);
    }
    // Without later frames, nothing would ever overtake the held ones.
    setTimeout(() => release(() => true), 5).unref();
  };
}
