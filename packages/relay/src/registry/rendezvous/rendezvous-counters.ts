import { countUsedBuffers } from "../../used-buffers.ts";

export type Direction = "to_executor" | "to_harness";

/** Intercepts frames, to simulate a bad link in tests. Frames that it does not deliver are lost. */
export type FrameFilter = (
  frame: Uint8Array,
  direction: Direction,
  deliver: (frame: Uint8Array) => void,
) => void;

/** Plain numbers, because they change with every frame. */
export class RendezvousCounters {
  readonly frames: Record<Direction, number> = { to_executor: 0, to_harness: 0 };
  readonly bytes: Record<Direction, number> = { to_executor: 0, to_harness: 0 };
  readonly refusals = new Map<string, number>();

  count(direction: Direction, bytes: number): void {
    this.frames[direction] += 1;
    this.bytes[direction] += bytes;
    countUsedBuffers(bytes);
  }

  refuse(reason: string): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
  }
}
