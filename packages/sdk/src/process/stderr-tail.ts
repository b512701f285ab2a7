import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { ProcessLimits } from "./limits.ts";

/** Reads a stderr to its end, whoever cares: an unread pipe would block the child. Keeps the last words, offers the lines. */
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
    // A pipe that breaks says no more than one that ends.
    stderr.on("error", () => {});
  }

  /** The last characters, as they came. */
  get text(): string {
    return this.#tail;
  }

  /** The same for people: without colours, and trimmed. */
  get lastWords(): string {
    return stripVTControlCharacters(this.#tail).trim();
  }

  add(text: string): void {
    this.#tail = (this.#tail + text).slice(-this.#limits.stderrTailCharacters);
    if (this.#onLine === undefined) return;
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#tell(line.endsWith("\r") ? line.slice(0, -1) : line);
    while (this.#line.length > this.#limits.stderrLineCharacters) {
      this.#tell(this.#line.slice(0, this.#limits.stderrLineCharacters));
      this.#line = this.#line.slice(this.#limits.stderrLineCharacters);
    }
  }

  #flush(): void {
    if (this.#line !== "") this.#tell(this.#line);
    this.#line = "";
  }

  /** A log that fails must not end the program, but its author should hear of it. */
  #tell(line: string): void {
    try {
      this.#onLine?.(line);
    } catch (error) {
      process.emitWarning(`onStderr threw: ${String(error)}`, "CodexkitWarning");
    }
  }
}
