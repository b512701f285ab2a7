import type { WriteStream } from "node:tty";

import type { Progress } from "./run-bench.ts";

const CLEAR_LINE = "\r\u001B[K";

/**
 * Writes the progress to stderr: on a terminal, one line that is overwritten; otherwise one line per row, because one per round
 * would fill the log.
 */
export class ProgressLine {
  readonly #stream: Pick<WriteStream, "write" | "isTTY" | "columns">;
  #row = "";

  constructor(stream: Pick<WriteStream, "write" | "isTTY" | "columns">) {
    this.#stream = stream;
  }

  update({ bench, row, round, rounds, contestant }: Progress): void {
    const where = `${bench} · ${row}`;
    if (this.#stream.isTTY) {
      const step = round === 0 ? "warm-up" : `round ${round}/${rounds}`;
      // A line that wraps can't be cleared by a carriage return.
      const line = `${where} · ${step} · ${contestant}`.slice(0, Math.max(1, this.#stream.columns - 1));
      this.#stream.write(`${CLEAR_LINE}${line}`);
    } else if (where !== this.#row) {
      this.#stream.write(`${where} · ${rounds} rounds\n`);
    }
    this.#row = where;
  }

  clear(): void {
    if (this.#stream.isTTY && this.#row !== "") this.#stream.write(CLEAR_LINE);
  }
}
