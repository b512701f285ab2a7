import type { RequestId } from "@codexkit/rpc";

/**
 * What ended in this round of the event loop. A request runs beside the read loop, so that the news of its end, read from the
 * same chunk of bytes, overtakes it: without this it would be asked after its end, and never withdrawn.
 */
export class RecentEnds {
  readonly #requests = new Set<RequestId>();
  readonly #turns = new Set<string>();
  #clearing: NodeJS.Immediate | undefined;

  addRequest(id: RequestId): void {
    this.#requests.add(id);
    this.#clearSoon();
  }

  addTurn(threadId: string, turnId: string): void {
    this.#turns.add(keyOf(threadId, turnId));
    this.#clearSoon();
  }

  hasRequest(id: RequestId): boolean {
    return this.#requests.has(id);
  }

  hasTurn(threadId: string | undefined, turnId: string | null | undefined): boolean {
    return (
      typeof threadId === "string" && typeof turnId === "string" && this.#turns.has(keyOf(threadId, turnId))
    );
  }

  clear(): void {
    this.#requests.clear();
    this.#turns.clear();
  }

  #clearSoon(): void {
    this.#clearing ??= setImmediate(() => {
      this.#clearing = undefined;
      this.clear();
    });
    this.#clearing.unref();
  }
}

function keyOf(threadId: string, turnId: string): string {
  return JSON.stringify([threadId, turnId]);
}
