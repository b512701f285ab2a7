import type { SessionEvent } from "@codexkit/daemon/client";
import type { CodexEvent, TokenUsage } from "codexkit";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { formatCount, formatDuration } from "../render/format-values.ts";

interface LimitOptions {
  /** Maximum number of tokens of all turns together. */
  readonly budget?: number | undefined;
  /** Milliseconds from now. */
  readonly deadline?: number | undefined;
}

/**
 * The budget and the deadline of a command. `signal` aborts with a `CliError` when one of them is exceeded.
 */
export class TurnLimits implements Disposable {
  readonly #controller = new AbortController();
  readonly #budget: number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #turns = new Map<string, number>();

  constructor({ budget, deadline }: LimitOptions) {
    this.#budget = budget;
    if (deadline !== undefined) {
      const exceed = (): void =>
        this.#exceed(`The deadline of ${formatDuration(deadline)} has passed.`, "--deadline");
      this.#timer = setTimeout(exceed, deadline).unref();
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The error for the exceeded limit, if any. */
  get exceeded(): CliError | undefined {
    return this.signal.reason as CliError | undefined;
  }

  observe(event: CodexEvent | SessionEvent): void {
    if (event.type === "usage.updated") this.#count(event.turnId, event.usage);
  }

  /**
   * Throws if a turn that ended by itself used more than the budget: its last tokens can be reported too late
   * to interrupt it.
   */
  checkEnd(turnId: string, usage: TokenUsage | null): void {
    if (usage) this.#count(turnId, usage);
    if (!this.exceeded) return;
    const { exitCode, message } = this.exceeded;
    throw new CliError(exitCode, message, { hint: "The turn ended before it could be interrupted." });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #count(turnId: string, { totalTokens }: TokenUsage): void {
    if (this.#budget === undefined) return;
    this.#turns.set(turnId, totalTokens);
    const used = [...this.#turns.values()].reduce((sum, tokens) => sum + tokens, 0);
    if (used > this.#budget) {
      this.#exceed(
        `The task used ${formatCount(used)} tokens, which exceeds the budget of ${formatCount(this.#budget)}.`,
        "--budget",
      );
    }
  }

  #exceed(message: string, option: string): void {
    const hint = `The turn was interrupted. Continue it with --resume and a larger ${option}.`;
    this.#controller.abort(new CliError(EXIT.overLimit, message, { hint }));
  }
}
