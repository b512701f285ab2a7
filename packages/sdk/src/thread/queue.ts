import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { type Input, toUserInput } from "../turn/input.ts";
import type { ThreadCaller } from "./thread-caller.ts";
import { uniqueId } from "../unique-id.ts";

/** Codex's queue of a thread. The server runs its entries one by one after completed and failed turns. */
export class ThreadQueue {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  /** Appends input to the queue. */
  async add(input: Input, options: CallOptions = {}): Promise<v2.QueuedSubmission> {
    const params = {
      input: await toUserInput(input, this.#thread.inputContext),
      clientUserMessageId: uniqueId(),
    };
    const { queuedSubmission } = await this.#thread.request("thread/queue/add", params, options);
    return queuedSubmission;
  }

  /** Returns all entries in order. */
  list(options: CallOptions = {}): Promise<v2.QueuedSubmission[]> {
    return Array.fromAsync(this.#thread.pages("thread/queue/list", {}, options));
  }

  /** Replaces the input of an entry, which keeps its ID and position. */
  async update(queuedSubmissionId: string, input: Input, options: CallOptions = {}): Promise<void> {
    const params = { queuedSubmissionId, input: await toUserInput(input, this.#thread.inputContext) };
    await this.#thread.request("thread/queue/update", params, options);
  }

  async delete(queuedSubmissionId: string, options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/queue/delete", { queuedSubmissionId }, options);
  }

  /** Reorders the queue. All IDs must be given. */
  async reorder(queuedSubmissionIds: string[], options: CallOptions = {}): Promise<void> {
    await this.#thread.request("thread/queue/reorder", { queuedSubmissionIds }, options);
  }

  /**
   * Starts the first entry, or the given one, on an idle thread. An interrupt pauses the queue until this is called.
   */
  async start(queuedSubmissionId?: string, options: CallOptions = {}): Promise<void> {
    const params = queuedSubmissionId === undefined ? {} : { queuedSubmissionId };
    await this.#thread.request("thread/queue/start", params, options);
  }
}
