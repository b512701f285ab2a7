import { createProblem, type Problem } from "../api/problem.ts";
import type {
  CommandResult,
  CommandStore,
  FinishOptions,
  PendingCommand,
} from "../commands/command-store.ts";
import { isOutage, outlastOutage } from "../database/outage.ts";
import type { Ownership } from "../database/ownership.ts";
import { isQueued, type Step } from "./command-executor.ts";
import { isFenced, isLost, isUnreachable } from "./problems.ts";

export interface CommandQueueDeps {
  readonly owner: Ownership;
  readonly commands: CommandStore;
  readonly execute: (command: PendingCommand) => Promise<Step>;
  readonly explain: (error: unknown) => Promise<Problem>;
  /** Whether to retry a command whose call was lost. */
  readonly mayRetry: () => boolean;
  /** Whether no more commands may be started. */
  readonly isStopped: () => boolean;
  /** Called when it may have become possible to carry out another command. */
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/** Carries out the commands of a session in order, each once, and stores their results. */
export class CommandQueue {
  readonly #deps: CommandQueueDeps;
  /** Commands that this boot has started. The recorded start of any other command is that of an earlier boot. */
  readonly #begun = new Set<string>();
  /** Commands whose call may have been lost with the connection. */
  readonly #unsure = new Set<string>();
  /** Commands that Codex has accepted and whose result is not stored yet. */
  readonly #inFlight = new Set<string>();
  /** Whether a command is being carried out. */
  #isExecuting = false;

  constructor(deps: CommandQueueDeps) {
    this.#deps = deps;
  }

  /** Whether a command is being carried out, or Codex has accepted commands without a result. Either may start a turn. */
  get isBusy(): boolean {
    return this.#isExecuting || this.hasAccepted;
  }

  /** Whether Codex has accepted commands without a result. */
  get hasAccepted(): boolean {
    return this.#inFlight.size > 0;
  }

  /** Carries out the commands that can be carried out now. Resolves to `deleted` after the command that deletes the session. */
  async run(): Promise<"deleted" | undefined> {
    const { commands, owner, isStopped } = this.#deps;
    let isBlocked = false;
    for (const command of await commands.pending(owner.sessionId)) {
      if (isStopped()) return undefined;
      if (this.#inFlight.has(command.id) || (isBlocked && isQueued(command))) continue;
      this.#isExecuting = true;
      try {
        const outcome = await this.#carryOut(command);
        if (outcome === "deleted") return outcome;
        isBlocked ||= outcome === "wait";
      } finally {
        this.#isExecuting = false;
      }
    }
    return undefined;
  }

  /** Records that the command is about to be sent to Codex. */
  async begin({ id }: PendingCommand): Promise<void> {
    if (this.#begun.has(id)) return;
    await this.#deps.commands.begin(this.#deps.owner, id);
    this.#begun.add(id);
  }

  /** Whether the command may already have been sent to Codex, by an earlier boot or before the connection was lost. */
  mayHaveBeenSent({ id, startedEpoch }: PendingCommand): boolean {
    return this.#unsure.has(id) || (startedEpoch !== null && !this.#begun.has(id));
  }

  /** Removes a message from the queue. Returns false if it was already sent or does not exist. */
  async unqueue(commandId: string): Promise<boolean> {
    const { commands, owner } = this.#deps;
    const command = (await commands.pending(owner.sessionId)).find(({ id }) => id === commandId);
    if (command?.kind !== "message" || this.#inFlight.has(commandId) || command.startedEpoch !== null) {
      return false;
    }
    const detail = "The message was removed from the queue.";
    await this.#refuse(command, createProblem("unprocessable", detail, { code: "unqueued" }));
    return true;
  }

  /** Refuses all pending commands except those that delete the session. */
  async refuseAll(problem: Problem): Promise<void> {
    const { commands, owner } = this.#deps;
    for (const command of await commands.pending(owner.sessionId)) {
      if (command.kind !== "delete") await this.#refuse(command, problem);
    }
  }

  async #carryOut(command: PendingCommand): Promise<"done" | "wait" | "deleted"> {
    const step = await this.#execute(command);
    if (step === "wait") return step;
    if ("accepted" in step) {
      this.#finishLater(command, step.accepted);
      return "done";
    }
    await this.#finish(command, step.result, step.options);
    await step.after?.();
    return command.kind === "delete" && step.result.ok ? "deleted" : "done";
  }

  async #execute(command: PendingCommand): Promise<Step> {
    const { execute, explain, mayRetry } = this.#deps;
    try {
      return await execute(command);
    } catch (error) {
      if (isFenced(error)) throw error;
      // Retried after the outage or the reconnect. Then it is checked whether Codex has received the command.
      const wasBegun = this.#begun.has(command.id);
      const mayPass = isLost(error) || (isUnreachable(error) && !wasBegun);
      if (isOutage(error) || (mayPass && mayRetry())) {
        if (wasBegun) this.#unsure.add(command.id);
        throw error;
      }
      return { result: { ok: false, problem: await explain(error) } };
    }
  }

  #finishLater(
    command: PendingCommand,
    accepted: Promise<{ readonly result: CommandResult; readonly options?: FinishOptions }>,
  ): void {
    this.#inFlight.add(command.id);
    accepted
      .then(({ result, options }) => this.#finish(command, result, options))
      .catch((error: unknown) => {
        // The command stays pending. After the reconnect, the thread is searched for it.
        this.#unsure.add(command.id);
        if (!isLost(error)) this.#deps.onError(error);
      })
      .finally(() => {
        this.#inFlight.delete(command.id);
        this.#deps.onChange();
      });
  }

  async #refuse(command: PendingCommand, problem: Problem): Promise<void> {
    await this.#finish(command, { ok: false, problem });
  }

  async #finish(command: PendingCommand, result: CommandResult, options: FinishOptions = {}): Promise<void> {
    const { commands, owner } = this.#deps;
    // The command was carried out. An outage of the store must not cause it to be carried out again.
    await outlastOutage(() => commands.finish(owner, command.id, result, options));
    this.#begun.delete(command.id);
    this.#unsure.delete(command.id);
  }
}
