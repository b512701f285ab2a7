import type { Turn } from "codexkit";
import { DisposableStack, timerDelay, withTimeout } from "@codexkit/rpc/async";
import { PromptError } from "../errors.ts";
import { type Budget, describeExcess } from "../limits/budget.ts";
import type { Deadline } from "../limits/deadline.ts";

/** How long Codex may take to confirm an interrupt before the evaluation ends without its turn. */
const INTERRUPT_LIMIT_MS = 5_000;

/** How long Codex may take to close a thread or another resource that an evaluation no longer needs. */
const CLOSE_LIMIT_MS = 10_000;

/** Why an evaluation must stop. */
export interface StopReason {
  readonly error: PromptError;
}

/**
 * Stops an evaluation when its deadline passes, its budget is exceeded or its signal aborts. After that, no tool runs, and the
 * running turn is interrupted.
 */
export class StopControl implements Disposable {
  readonly #deadline: Deadline | undefined;
  readonly #budget: Budget | undefined;
  readonly #cleanup = new DisposableStack();
  readonly #onUnconfirmed: () => Promise<void>;
  readonly #stopped = Promise.withResolvers<StopReason>();
  #reason: StopReason | undefined;
  #turn: Turn<unknown> | undefined;

  constructor(options: {
    readonly deadline: Deadline | undefined;
    readonly budget: Budget | undefined;
    readonly signal: AbortSignal | undefined;
    /** Called if Codex does not confirm an interrupt in time. */
    readonly onUnconfirmed: () => Promise<void>;
  }) {
    this.#onUnconfirmed = options.onUnconfirmed;
    this.#deadline = options.deadline;
    this.#budget = options.budget;
    this.#watchDeadline();
    this.#watchSignal(options.signal);
  }

  /** Set once the evaluation must stop. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** @throws {PromptError} if the evaluation must stop, or its next turn would exceed a limit */
  check(): void {
    if (this.#deadline?.hasPassed) this.#stop(deadlineError(this.#deadline));
    this.checkBudget();
    if (this.#reason) throw this.#reason.error;
    if (this.#budget?.isExhausted) {
      throw new PromptError("budget_exceeded", "The budget is used up, so no further turn can start.");
    }
  }

  /** Stops the evaluation if its budget is exceeded. Called on every usage update. */
  checkBudget(): void {
    const excess = this.#budget?.excess;
    if (excess) this.#stop(new PromptError("budget_exceeded", describeExcess(excess)));
  }

  /** Sets the turn to interrupt when the evaluation must stop. */
  watchTurn(turn: Turn<unknown>): void {
    this.#turn = turn;
    if (this.#reason) void this.#interrupt();
  }

  /** Waits for a task. Rejects if the evaluation must stop before that, even if the task never ends. */
  async race<Result>(task: Promise<Result>): Promise<Result> {
    const stopped = this.#stopped.promise.then(({ error }) => Promise.reject(error));
    return Promise.race([task, stopped]);
  }

  /** Waits until Codex has opened a resource. If the evaluation stops first, the resource is closed as soon as it is open. */
  async raceOpening<Opened extends AsyncDisposable>(opening: Promise<Opened>): Promise<Opened> {
    try {
      return await this.race(opening);
    } catch (error) {
      // If opening failed, there is nothing to close.
      opening.then(closeInTime).catch(() => {});
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#cleanup.dispose();
  }

  #watchDeadline(): void {
    const deadline = this.#deadline;
    if (!deadline) return;
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      timer = setTimeout(
        () => {
          // A timer can't wait longer than 24 days.
          if (deadline.hasPassed) this.#stop(deadlineError(deadline));
          else wait();
        },
        Math.max(0, timerDelay(deadline.remaining())),
      );
    };
    wait();
    this.#cleanup.defer(() => clearTimeout(timer));
  }

  #watchSignal(signal: AbortSignal | undefined): void {
    if (!signal) return;
    const onAbort = (): void => {
      this.#stop(new PromptError("aborted", "The evaluation was aborted.", { cause: signal.reason }));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#cleanup.defer(() => signal.removeEventListener("abort", onAbort));
  }

  #stop(error: PromptError): void {
    if (this.#reason) return;
    this.#reason = { error };
    void this.#interrupt();
  }

  async #interrupt(): Promise<void> {
    const reason = this.#reason;
    if (!reason) return;
    const turn = this.#turn;
    if (turn) {
      const late = (): Error =>
        new Error(`Codex did not confirm the interrupt within ${INTERRUPT_LIMIT_MS} ms.`);
      // The evaluation ends in any case. If Codex does not react, the thread is abandoned; a failure of that is ignored.
      await withTimeout(turn.interrupt(), INTERRUPT_LIMIT_MS, late)
        .catch(() => withTimeout(this.#onUnconfirmed(), INTERRUPT_LIMIT_MS, late))
        .catch(() => {});
    }
    this.#stopped.resolve(reason);
  }
}

function deadlineError(deadline: Deadline): PromptError {
  const over = Math.max(0, -deadline.remaining());
  return new PromptError("deadline_exceeded", `The deadline passed ${Math.round(over)} ms ago.`);
}

/** Closes a Codex resource, within a limit, so that an unresponsive codex does not delay the result. */
export async function closeInTime(opened: AsyncDisposable): Promise<void> {
  const late = (): Error => new Error(`Codex did not respond within ${CLOSE_LIMIT_MS} ms.`);
  await withTimeout(Promise.resolve(opened[Symbol.asyncDispose]()), CLOSE_LIMIT_MS, late).catch(() => {});
}
