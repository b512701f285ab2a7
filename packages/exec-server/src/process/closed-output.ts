import type { ManagedProcess } from "./managed-process.ts";

/**
 * What the closed processes of one session keep for replay. Each may keep 1 MiB for 30 s, and thousands may close in that
 * time: beyond a budget the oldest gives up its output. A client that is there has had it already.
 */
export class ClosedOutput {
  readonly #maxBytes: number;
  readonly #processes = new Set<ManagedProcess>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A process closed. With nobody there to hear it, all of it stays. */
  add(process: ManagedProcess, { heard }: { heard: boolean }): void {
    this.#processes.add(process);
    this.#bytes += process.retainedBytes;
    if (!heard) return;
    for (const oldest of this.#processes) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
      oldest.dropOutput();
    }
  }

  forget(process: ManagedProcess): void {
    if (this.#processes.delete(process)) this.#bytes -= process.retainedBytes;
  }
}
