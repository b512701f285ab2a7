import { TokenBucket } from "@codexkit/rpc/async";
import type { RegistryLimits } from "../limits.ts";

export type EnvironmentLimits = Pick<
  RegistryLimits,
  "streamsPerEnvironment" | "harnessesPerEnvironment" | "bytesPerSecond"
>;

/** Usage of one environment on this node. The executors of an environment share its limits. */
export class EnvironmentUsage {
  readonly #limits: EnvironmentLimits;
  readonly #bytes: TokenBucket;
  executors = 0;
  harnesses = 0;
  streams = 0;

  constructor(limits: EnvironmentLimits) {
    this.#limits = limits;
    this.#bytes = new TokenBucket({ perSecond: limits.bytesPerSecond });
  }

  get canAddHarness(): boolean {
    return this.harnesses < this.#limits.harnessesPerEnvironment;
  }

  get canAddStream(): boolean {
    return this.streams < this.#limits.streamsPerEnvironment;
  }

  /** Counts bytes. Returns how long their sender must pause, in milliseconds. */
  countBytes(bytes: number): number {
    return this.#bytes.take(bytes);
  }

  get isUnused(): boolean {
    return this.executors === 0 && this.harnesses === 0;
  }
}
