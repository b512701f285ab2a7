import type { PostgresPoolClient, PostgresQueryResult } from "kysely";
import { type ClientBase, DatabaseError } from "pg";
import { StoreError } from "../errors.ts";
import type { ConnectionState } from "./connection-settings.ts";
import { toStoreError } from "./postgres-errors.ts";

/** SQLSTATE for a prepared statement whose result columns have changed. */
const RESULT_CHANGED = "0A000";

/** A connection for Kysely's dialect that reports errors as `StoreError`. */
export class MappedClient implements PostgresPoolClient {
  readonly #client: ClientBase;
  readonly #release: (isBroken: boolean) => void;
  readonly #state: ConnectionState;
  /**
   * Set after an unanswered query. The connection must not be used again, because the answer may still
   * arrive.
   */
  #isBroken = false;

  constructor(client: ClientBase, release: (isBroken: boolean) => void, state: ConnectionState) {
    this.#client = client;
    this.#release = release;
    this.#state = state;
    // An error while the client is checked out also rejects its query, which reports it.
    client.on("error", () => {
      this.#isBroken = true;
    });
  }

  async query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query(cursor: never): never;
  async query<Row>(text: string, parameters?: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    if (this.#isBroken) {
      // A rollback would wait behind the unanswered query. Closing the connection also rolls back, and the
      // first error is the one to report.
      if (text === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
      throw new StoreError("store_unavailable", "The connection to Postgres was lost.");
    }
    const state = this.#state;
    const isBegin = text === "begin" || text.startsWith("start transaction");
    try {
      if (isBegin && state.kind === "pooled") {
        await this.#client.query(`${text}; ${state.transactionSettings}`);
        return { command: "SELECT", rowCount: 0, rows: [] };
      }
      const values = parameters?.map(withoutNul);
      const name = state.kind === "direct" ? state.statements.nameOf(text) : undefined;
      const query = { text, ...(values && { values }), ...(name !== undefined && { name }) };
      return (await this.#client.query(query)) as unknown as PostgresQueryResult<Row>;
    } catch (raw) {
      if (raw instanceof DatabaseError && raw.code === RESULT_CHANGED) this.#isBroken = true;
      const error = toStoreError(raw);
      if (StoreError.is(error) && error.code === "store_unavailable") this.#isBroken = true;
      throw error;
    }
  }

  release(isDiscarded?: boolean): void {
    this.#release(this.#isBroken || isDiscarded === true);
  }
}

/**
 * Replaces NUL characters, which Postgres does not accept in text, as is done for other invalid characters.
 */
function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
