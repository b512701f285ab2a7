import { installedCodexPath, launchPlan } from "./launch-plan.ts";
import type { CodexOptions, ThreadOptions } from "./options.ts";
import { Thread } from "./thread.ts";

/**
 * The agent. Make a thread, and run turns on it.
 *
 * Behind it is one long-lived codex for all turns with the same options and environment. It is started with the first
 * turn and ends when it has had nothing to do for a while, or with the program, which need not close anything.
 *
 * @example
 * const codex = new Codex();
 * const thread = codex.startThread({ workingDirectory: "/path/to/project" });
 * const { finalResponse } = await thread.run("What does this project do?");
 */
export class Codex {
  readonly #options: CodexOptions;
  readonly #installed: string | undefined;

  /** @throws {Error} when there is no codex to run. */
  constructor(options: CodexOptions = {}) {
    this.#options = options;
    this.#installed = options.codexPathOverride ? undefined : installedCodexPath();
  }

  /** A new thread. Nothing starts before its first turn. */
  startThread(options: ThreadOptions = {}): Thread {
    return this.#thread(options);
  }

  /** A thread that was started before, here or elsewhere: Codex keeps them in `$CODEX_HOME/sessions`. */
  resumeThread(id: string, options: ThreadOptions = {}): Thread {
    return this.#thread(options, id);
  }

  #thread(options: ThreadOptions, id?: string): Thread {
    return new Thread(() => launchPlan(this.#options, this.#installed), options, id);
  }
}
