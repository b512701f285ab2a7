import type { Codex } from "../codex.ts";

/** Each is shown once a turn; a server says the same ones again for every thread. */
const KEPT_NOTICES = 64;

/**
 * What a server says about its configuration and not about a thread. `codex exec` said it anew in every turn, as it was
 * a new process, so every turn shows it.
 */
export class Notices {
  readonly #messages = new Set<string>();

  constructor(codex: Codex) {
    codex.on("configWarning", ({ summary, details }) => {
      // About the machine, not the configuration: exec tells it to people and not to programs.
      if (!summary.includes("bubblewrap")) this.#add(summary, details);
    });
    codex.on("deprecationNotice", ({ summary, details }) => this.#add(summary, details));
  }

  get messages(): readonly string[] {
    return [...this.#messages];
  }

  #add(summary: string, details: string | null): void {
    if (this.#messages.size < KEPT_NOTICES) this.#messages.add(details ? `${summary} (${details})` : summary);
  }
}
