import { ExecError } from "../errors.ts";
import type { OutputStream } from "../wire/exec-wire.ts";

/** A piece of a process's output. */
export interface ProcessOutput {
  readonly stream: OutputStream;
  readonly bytes: Buffer;
}

/**
 * Output on its way to its reader. A reader who falls too far behind is told that the oldest was dropped: one slow
 * reader must neither fill the memory nor hold up the other processes of the connection.
 */
export class OutputQueue implements AsyncIterable<ProcessOutput> {
  readonly #maxBytes: number;
  #items: ProcessOutput[] = [];
  #bytes = 0;
  #lost = false;
  #end: { error: ExecError | undefined } | undefined;
  #wake: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(item: ProcessOutput): void {
    if (this.#end) return;
    this.#items.push(item);
    this.#bytes += item.bytes.length;
    while (this.#bytes > this.#maxBytes && this.#items.length > 1) {
      this.#bytes -= this.#items.shift()?.bytes.length ?? 0;
      this.#lost = true;
    }
    this.#wake?.();
  }

  end(error?: ExecError): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<ProcessOutput> {
    for (;;) {
      if (this.#lost) {
        throw new ExecError("output_lost", `more than ${this.#maxBytes} bytes waited for their reader`);
      }
      const items = this.#items;
      this.#items = [];
      this.#bytes = 0;
      yield* items;
      if (this.#items.length > 0) continue;
      if (this.#end?.error) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
