import { stripVTControlCharacters } from "node:util";

/** Enough for a Rust panic with its backtrace. */
const KEPT_LINES = 60;

/** Startup errors that the server also sends as configuration warnings. `codex exec` does not log them. */
const START_WARNING = /^\S+ ERROR codex_app_server: /;

/** Keeps the last lines of a codex's stderr. The original keeps all. */
export class StderrLines {
  #lines: string[] = [];

  add(line: string): void {
    const text = stripVTControlCharacters(line);
    if (START_WARNING.test(text)) return;
    this.#lines.push(text);
    if (this.#lines.length > 2 * KEPT_LINES) this.#lines = this.#lines.slice(-KEPT_LINES);
  }

  get text(): string {
    return this.#lines
      .slice(-KEPT_LINES)
      .map((line) => `${line}\n`)
      .join("");
  }
}
