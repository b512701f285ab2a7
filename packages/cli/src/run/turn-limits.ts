import type { SessionEvent } from "@codexkit/daemon/client";
import type { CodexEvent } from "codexkit";
import { CliError, EXIT } from "../errors/cli-error.ts";
import { formatCount, formatDuration } from "../render/format-values.ts";

interface LimitOptions {
  /** Tokens of all turns together. */
  readonly budget?: number | undefined;
  /** Milliseconds from now. */
  readonly deadline?: number | undefined;
}

/** The budget and the deadline of a command. `signal` is aborted with a `CliError` when one of them is exceeded. */
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

  /** Why a limit was exceeded, if one was. */
  get exceeded(): CliError | undefined {
    return this.signal.reason as CliError | undefined;
  }

  observe(event: CodexEvent | SessionEvent): void {
    if (event.type !== "usage.updated" || this.#budget === undefined) return;
    this.#turns.set(event.turnId, event.usage.totalTokens);
    const used = [...this.#turns.values()].reduce((sum, tokens) => sum + tokens, 0);
    if (used > this.#budget) {
      this.#exceed(
        `${formatCount(used)} tokens are over the budget of ${formatCount(this.#budget)}.`,
        "--budget",
      );
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #exceed(message: string, option: string): void {
    const hint = `The turn was interrupted. Continue it with --resume and a larger ${option}.`;
    this.#controller.abort(new CliError(EXIT.overLimit, message, { hint }));
  }
}
