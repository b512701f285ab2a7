/** How many turns are remembered: a command left in the background may speak many turns after its own. */
const REMEMBERED_TURNS = 4096;

/** The turns that are over, so that what is still said of them is known for what it is and opens none of them again. */
export class EndedTurns {
  readonly #turnIds = new Set<string>();

  add(turnId: string): void {
    this.#turnIds.add(turnId);
    if (this.#turnIds.size <= REMEMBERED_TURNS) return;
    const [oldest] = this.#turnIds;
    if (oldest !== undefined) this.#turnIds.delete(oldest);
  }

  has(turnId: string): boolean {
    return this.#turnIds.has(turnId);
  }
}
