import { stripVTControlCharacters } from "node:util";

/** More than a Rust panic with its backtrace takes. */
const KEPT_LINES = 60;

/** The last lines that a codex wrote to stderr; the old package kept them all. */
export class StderrLines {
  #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(stripVTControlCharacters(line));
    if (this.#lines.length > 2 * KEPT_LINES) this.#lines = this.#lines.slice(-KEPT_LINES);
  }

  get text(): string {
    return this.#lines
      .slice(-KEPT_LINES)
      .map((line) => `${line}\n`)
      .join("");
  }
}
