import type { StreamFrame } from "@codexkit/daemon/client";
import { beforeNextPaint, beforePaint, cancelBeforePaint } from "../frame/frame-queue.ts";

/** Time per animation frame for applying frames of the stream. The rest is for the layout. */
const APPLY_MS = 4;
/** Number of frames and characters that are applied between two checks of the time. */
const SLICE = { frames: 64, characters: 1_024 } as const;

/** Frames of the stream that wait to be applied, as many as fit into an animation frame. */
export class ReceivedFrames {
  #frames: readonly StreamFrame[] = [];
  readonly #apply: (frames: readonly StreamFrame[]) => void;
  readonly #onApplied: () => void;

  /** @param onApplied Called when no frame is waiting any more. */
  constructor(apply: (frames: readonly StreamFrame[]) => void, onApplied: () => void) {
    this.#apply = apply;
    this.#onApplied = onApplied;
  }

  add(frames: readonly StreamFrame[]): void {
    this.#frames = [...this.#frames, ...frames];
    beforePaint(this.#applySome);
  }

  clear(): void {
    this.#frames = [];
  }

  dispose(): void {
    cancelBeforePaint(this.#applySome);
  }

  /** A hidden page applies all of them. */
  readonly #applySome = (): void => {
    const startedAt = performance.now();
    try {
      do {
        const end = endOfSlice(this.#frames);
        const slice = this.#frames.slice(0, end);
        this.#frames = this.#frames.slice(end);
        this.#apply(slice);
      } while (this.#frames.length > 0 && (document.hidden || performance.now() - startedAt < APPLY_MS));
    } finally {
      // Also after a frame that could not be applied, so that later ones don't wait forever.
      if (this.#frames.length > 0) beforeNextPaint(this.#applySome);
      else this.#onApplied();
    }
  };
}

/** Returns the number of frames in the next slice. */
function endOfSlice(frames: readonly StreamFrame[]): number {
  let characters = 0;
  for (const [index, frame] of frames.entries()) {
    if (frame.type === "event" && frame.event.type === "item.delta") characters += frame.event.delta.length;
    if (characters >= SLICE.characters || index + 1 >= SLICE.frames) return index + 1;
  }
  return frames.length;
}
