import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { ThreadCaller, ThreadParams } from "./thread-caller.ts";

/** The goal of a thread. While a goal is active, the server starts turns on its own. */
export class ThreadGoal {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  async get(options: CallOptions = {}): Promise<v2.ThreadGoal | null> {
    return (await this.#thread.request("thread/goal/get", {}, options)).goal;
  }

  /** Sets the goal, or updates the given parts of it. */
  async set(goal: ThreadParams<"thread/goal/set">, options: CallOptions = {}): Promise<v2.ThreadGoal> {
    return (await this.#thread.request("thread/goal/set", goal, options)).goal;
  }

  async clear(options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/goal/clear", {}, options);
  }
}
