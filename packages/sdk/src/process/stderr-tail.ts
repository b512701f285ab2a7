import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { ProcessLimits } from "./limits.ts";

/** Reads stderr to its end, because an unread pipe would block the child. Keeps the tail and reports the lines. */
export class StderrTail {
  readonly #limits: ProcessLimits;
  readonly #onLine: ((line: string) => void) | undefined;
  #tail = "";
  #line = "";

  constructor(stderr: Readable, limits: ProcessLimits, onLine?: (line: string) => void) {
    this.#limits = limits;
    this.#onLine = onLine;
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => this.add(text));
    stderr.on("end", () => this.#flush());
    // A broken pipe is equivalent to its end.
    stderr.on("error", () => {});
  }

  /** The last characters, unchanged. */
  get text(): string {
    return this.#tail;
  }

  /** The last characters without colours and surrounding whitespace. */
  get plainText(): string {
    return stripVTControlCharacters(this.#tail).trim();
  }

  add(text: string): void {
    this.#tail = (this.#tail + text).slice(-this.#limits.stderrTailCharacters);
    if (this.#onLine === undefined) return;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#report(line.endsWith("\r") ? line.slice(0, -1) : line);
    while (this.#line.length > this.#limits.stderrLineCharacters) {
      this.#report(this.#line.slice(0, this.#limits.stderrLineCharacters));
      this.#line = this.#line.slice(this.#limits.stderrLineCharacters);
    }
  }

  #flush(): void {
    if (this.#line !== "") this.#report(this.#line);
    this.#line = "";
  }

  /** A throwing listener must not end the program, but its author should see the error. */
  #report(line: string): void {
    try {
      this.#onLine?.(line);
    } catch (error) {
      process.emitWarning(`onStderr threw: ${String(error)}`, "CodexkitWarning");
    }
  }
}
