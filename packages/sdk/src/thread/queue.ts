import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
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
  async add(input: Input, options: CallOptions = {}): Promise<v2.QueuedSubmission> {
    const params = {
      input: await toUserInput(input, this.#thread.inputContext),
      clientUserMessageId: randomUUID(),
    };
    const { queuedSubmission } = await this.#thread.request("thread/queue/add", params, options);
    return queuedSubmission;
  }

  /** Everything that waits, in order. */
  list(options: CallOptions = {}): Promise<v2.QueuedSubmission[]> {
    return Array.fromAsync(this.#thread.pages("thread/queue/list", {}, options));
  }

  /** Changes what waits; it keeps its id and its place. */
  async update(queuedSubmissionId: string, input: Input, options: CallOptions = {}): Promise<void> {
    const params = { queuedSubmissionId, input: await toUserInput(input, this.#thread.inputContext) };
    await this.#thread.request("thread/queue/update", params, options);
  }

  async delete(queuedSubmissionId: string, options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/queue/delete", { queuedSubmissionId }, options);
  }

  /** Puts the queue into a new order; every id must be named. */
  async reorder(queuedSubmissionIds: string[], options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/queue/reorder", { queuedSubmissionIds }, options);
  }

  /** Starts the first, or the one named, when the thread is idle: after an interrupt the queue waits for this. */
  async start(queuedSubmissionId?: string, options: CallOptions = {}): Promise<void> {
    const params = queuedSubmissionId === undefined ? {} : { queuedSubmissionId };
    await this.#thread.request("thread/queue/start", params, options);
  }
}
