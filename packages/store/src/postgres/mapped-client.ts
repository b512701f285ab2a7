import type { PostgresPoolClient, PostgresQueryResult } from "kysely";
import { type ClientBase, DatabaseError } from "pg";
import { StoreError } from "../errors.ts";
import type { ConnectionState } from "./connection-settings.ts";
import { toStoreError } from "./postgres-errors.ts";

/** SQLSTATE if a prepared statement would have other columns than before. */
const RESULT_CHANGED = "0A000";

/** A connection for Kysely's dialect, with errors as `StoreError`. */
export class MappedClient implements PostgresPoolClient {
  readonly #client: ClientBase;
  readonly #release: (isBroken: boolean) => void;
  readonly #state: ConnectionState;
  /** After an unanswered query the connection must not be used again: the answer may still arrive. */
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
      // It would wait behind the query that has no answer. The end of the connection rolls back too, and the first error is the one to report.
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

/** Postgres accepts no NUL character in text, but input may contain one. It is replaced, like other invalid characters. */
function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
