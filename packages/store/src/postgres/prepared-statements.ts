/**
 * Number of uses after which a statement is prepared. Planning takes about as long as execution, but every
 * connection keeps its plans in memory.
 */
const MIN_USES = 10;
/** Maximum number of prepared statements per connection. A plan takes tens of kilobytes in Postgres. */
const MAX_PREPARED = 100;
/** Maximum number of statements whose uses are counted. Others are never prepared. */
const MAX_COUNTED = 2_000;

const PREPARABLE = /^\s*(?:select|insert|update|delete|with)\b/i;
/**
 * Statements that return all columns. Migrations add columns, and Postgres refuses to run a prepared
 * statement whose result type has changed.
 */
const ALL_COLUMNS = /(?:\b(?:select|returning|distinct)\s+|[.,]\s*)\*/i;

/** Chooses which statements connections prepare, so that Postgres plans them once per connection. */
export class PreparedStatements {
  readonly #uses = new Map<string, number>();
  readonly #names = new Map<string, string>();

  /**
   * Returns the name under which a connection prepares this statement, or undefined if it should not be
   * prepared.
   */
  nameOf(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name !== undefined || this.#names.size >= MAX_PREPARED) return name;
    if (!PREPARABLE.test(text) || ALL_COLUMNS.test(text)) return undefined;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < MIN_USES) {
      if (uses > 1 || this.#uses.size < MAX_COUNTED) this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    const created = `codexkit_${this.#names.size + 1}`;
    this.#names.set(text, created);
    return created;
  }
}
