import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { ThreadCaller } from "./thread-caller.ts";

/** Commands that a thread left running in the background. */
export class ThreadTerminals {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  list(options: CallOptions = {}): Promise<v2.ThreadBackgroundTerminal[]> {
    return Array.fromAsync(this.#thread.pages("thread/backgroundTerminals/list", {}, options));
  }

  async terminate(processId: string, options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/backgroundTerminals/terminate", { processId }, options);
  }

  /** Terminates all of them. */
  async clean(options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/backgroundTerminals/clean", {}, options);
  }
}
