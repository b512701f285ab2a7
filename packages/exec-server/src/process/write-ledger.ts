import { EXEC_LIMITS } from "../limits.ts";

/** Remembers the newest write ids of one process, so that a write sent again is applied once. */
export class WriteLedger {
  readonly #seen = new Set<string>();

  /** True the first time an id is seen. */
  isNew(writeId: string): boolean {
    if (this.#seen.has(writeId)) return false;
    this.#seen.add(writeId);
    const [oldest] = this.#seen;
    if (this.#seen.size > EXEC_LIMITS.rememberedWrites && oldest !== undefined) this.#seen.delete(oldest);
    return true;
  }
}
