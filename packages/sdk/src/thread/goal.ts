import type { v2 } from "@codexkit/protocol";
import type { ThreadCaller, ThreadParams } from "./thread-caller.ts";

/** What a thread works towards. While a goal is active the server starts turns by itself. */
export class ThreadGoal {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  async get(): Promise<v2.ThreadGoal | null> {
    return (await this.#thread.request("thread/goal/get", {})).goal;
  }

  /** Sets the goal, or changes the parts that are given. */
  async set(goal: ThreadParams<"thread/goal/set">): Promise<v2.ThreadGoal> {
    return (await this.#thread.request("thread/goal/set", goal)).goal;
  }

  async clear(): Promise<void> {
    await this.#thread.request("thread/goal/clear", {});
  }
}
