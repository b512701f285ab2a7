import type { v2 } from "@codexkit/protocol";
import { randomUUID } from "node:crypto";
import { type Input, toUserInput } from "../turn/input.ts";
import type { ThreadCaller } from "./thread-caller.ts";

/** The follow-ups that wait with the server, which runs them one by one after completed and failed turns. */
export class ThreadQueue {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  /** Puts input at the end of the queue. */
  async add(input: Input): Promise<v2.QueuedSubmission> {
    const { queuedSubmission } = await this.#thread.request("thread/queue/add", {
      input: await toUserInput(input, this.#thread.inputContext),
      clientUserMessageId: randomUUID(),
    });
    return queuedSubmission;
  }

  /** Everything that waits, in order. */
  async list(): Promise<v2.QueuedSubmission[]> {
    return Array.fromAsync(this.#thread.pages("thread/queue/list", {}));
  }

  /** Changes what waits; it keeps its id and its place. */
  async update(queuedSubmissionId: string, input: Input): Promise<void> {
    await this.#thread.request("thread/queue/update", {
      queuedSubmissionId,
      input: await toUserInput(input, this.#thread.inputContext),
    });
  }

  async delete(queuedSubmissionId: string): Promise<void> {
    await this.#thread.request("thread/queue/delete", { queuedSubmissionId });
  }

  /** Puts the queue into a new order; every id must be named. */
  async reorder(queuedSubmissionIds: string[]): Promise<void> {
    await this.#thread.request("thread/queue/reorder", { queuedSubmissionIds });
  }

  /** Starts the first, or the one named, when the thread is idle: after an interrupt the queue waits for this. */
  async start(queuedSubmissionId?: string): Promise<void> {
    await this.#thread.request(
      "thread/queue/start",
      queuedSubmissionId === undefined ? {} : { queuedSubmissionId },
    );
  }
}
