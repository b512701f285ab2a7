import { stripVTControlCharacters } from "node:util";

/** More than a Rust panic with its backtrace takes. */
const KEPT_LINES = 60;

/** At its start the server logs what it also sends as a configuration warning. `codex exec` does not. */
const START_WARNING = /^\S+ ERROR codex_app_server: /;

/** The last lines that a codex wrote to stderr; the old package kept them all. */
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
