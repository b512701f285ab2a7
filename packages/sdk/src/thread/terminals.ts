import type { v2 } from "@codexkit/protocol";
import type { ThreadCaller } from "./thread-caller.ts";

/** The commands that a thread left running in the background. */
export class ThreadTerminals {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  list(): Promise<v2.ThreadBackgroundTerminal[]> {
    return Array.fromAsync(this.#thread.pages("thread/backgroundTerminals/list", {}));
  }

  async terminate(processId: string): Promise<void> {
    await this.#thread.request("thread/backgroundTerminals/terminate", { processId });
  }

  /** Ends all of them. */
  async clean(): Promise<void> {
    await this.#thread.request("thread/backgroundTerminals/clean", {});
  }
}
