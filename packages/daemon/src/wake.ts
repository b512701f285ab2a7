import { timerDelay } from "@codexkit/rpc/async";

/** Wakes a loop that has nothing to do. A wake-up during the work is not lost. */
export class Wake {
  #isSet = false;
  #resolve: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#resolve?.();
  }

  /** Resolves to true when it is set, to false after the time limit. */
  async wait(limitMs: number): Promise<boolean> {
    if (!this.#isSet) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, timerDelay(limitMs));
      await promise;
      clearTimeout(timer);
      this.#resolve = undefined;
    }
    const wasSet = this.#isSet;
    this.#isSet = false;
    return wasSet;
  }
}
