import { monitorEventLoopDelay } from "node:perf_hooks";
import { totalmem } from "node:os";
import type { FleetLimits } from "./limits.ts";

/** Between samples, in milliseconds. */
const RESOLUTION_MS = 20;
/** Samples that are needed for a judgement. */
const SAMPLES = 10;

const NANOSECONDS = 1_000_000;

/** Says whether this node has room for more sessions besides its capacity: another one of the fleet may have. */
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
    // In a container, the memory is that of the container.
    const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    return this.#delayMs > maxEventLoopDelayMs || process.availableMemory() / total < minFreeMemory;
  }

  [Symbol.dispose](): void {
    this.#delay.disable();
  }
}
