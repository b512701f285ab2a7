import { monitorEventLoopDelay } from "node:perf_hooks";
import { totalmem } from "node:os";
import type { FleetLimits } from "./limits.ts";

/** Sampling interval in milliseconds. */
const RESOLUTION_MS = 20;
/** Number of samples that are averaged. */
const SAMPLES = 10;

const NANOSECONDS = 1_000_000;

/** Measures whether this node is too busy to claim more sessions, regardless of its capacity. Another node may have room. */
export class NodeLoad implements Disposable {
  readonly #limits: Pick<FleetLimits, "maxEventLoopDelayMs" | "minFreeMemory">;
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #delayMs = 0;

  constructor(limits: Pick<FleetLimits, "maxEventLoopDelayMs" | "minFreeMemory">) {
    this.#limits = limits;
    this.#delay.enable();
  }

  get isOverloaded(): boolean {
    const { maxEventLoopDelayMs, minFreeMemory } = this.#limits;
    if (this.#delay.count >= SAMPLES) {
      this.#delayMs = this.#delay.mean / NANOSECONDS - RESOLUTION_MS;
      this.#delay.reset();
    }
    // In a container, its memory limit applies.
    const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    return this.#delayMs > maxEventLoopDelayMs || process.availableMemory() / total < minFreeMemory;
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}
