import { CodexError } from "../errors.ts";
import type { ThreadEvent } from "./events.ts";
import { createLaunchPlan, findInstalledCodexPath } from "./launch-plan.ts";
import type { CodexOptions, ThreadOptions } from "./options.ts";
import { closeIdleServers } from "./server-pool.ts";
import { streamTurn } from "./stream-turn.ts";
import { Thread, type ThreadTurn } from "./thread.ts";

/**
 * The entry point. Start a thread and run turns on it.
 *
 * Turns with the same options and environment share a long-lived codex process. It starts with the first turn and ends with the
 * program or after an idle time. A program need not close anything; `close` ends the processes early.
 *
 * @example
 * const codex = new Codex();
 * const thread = codex.startThread({ workingDirectory: "/path/to/project" });
 * const { finalResponse } = await thread.run("What does this project do?");
 */
export class Codex implements AsyncDisposable {
  readonly #options: CodexOptions;
  readonly #installed: string | undefined;
  readonly #closing = new AbortController();
  /** Turns that have not ended. */
  readonly #turns = new Set<Promise<void>>();

  /** @throws {Error} If codex is not found. */
  constructor(options: CodexOptions = {}) {
    this.#options = options;
    this.#installed = options.codexPathOverride ? undefined : findInstalledCodexPath();
  }

  /** Creates a thread. Nothing is started before its first turn. */
  startThread(options: ThreadOptions = {}): Thread {
    return new Thread((turn) => this.#stream(turn), options);
  }

  /** Resumes a thread. Codex stores threads in `$CODEX_HOME/sessions`. */
  resumeThread(id: string, options: ThreadOptions = {}): Thread {
    return new Thread((turn) => this.#stream(turn), options, id);
  }

  /**
   * Aborts the running turns of this object and ends its codex processes, except those that run turns of another `Codex`. The
   * original has no such method, and no program needs it: idle processes end on their own.
   */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    await Promise.all(this.#turns);
    await closeIdleServers(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #stream(turn: ThreadTurn): AsyncGenerator<ThreadEvent, void, undefined> {
    const closing = this.#closing.signal;
    if (closing.aborted) throw closedError();
    const { signal } = turn.options;
    return streamTurn({
      ...turn,
      options: { ...turn.options, signal: signal ? AbortSignal.any([signal, closing]) : closing },
      plan: createLaunchPlan(this.#options, this.#installed, turn.setup.cwd),
      user: this,
      onBegin: (ended) => this.#track(ended),
    });
  }

  #track(ended: Promise<void>): void {
    this.#turns.add(ended);
    void ended.then(() => this.#turns.delete(ended));
  }
}

function closedError(): CodexError {
  return new CodexError("closed", "This Codex was closed. Create another one to run more turns.");
}
