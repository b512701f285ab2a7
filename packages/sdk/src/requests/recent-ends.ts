import type { RequestId } from "@codexkit/rpc";

/**
 * Requests and turns that ended in the current event loop iteration. A request is handled outside the read loop, so the
 * notification of its end, read from the same chunk, overtakes it. Without this class, the request would be presented
 * after its end, and never withdrawn.
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

  hasTurn({ threadId, turnId }: { threadId: string | undefined; turnId: string | undefined }): boolean {
    return threadId !== undefined && turnId !== undefined && this.#turns.has(keyOf(threadId, turnId));
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
