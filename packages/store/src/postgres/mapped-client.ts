import type { PostgresPoolClient, PostgresQueryResult } from "kysely";
import type { ClientBase } from "pg";
import { StoreError } from "../errors.ts";
import { toStoreError } from "./postgres-errors.ts";

/** A connection for Kysely's dialect, with errors as `StoreError`. */
export class MappedClient implements PostgresPoolClient {
  readonly #client: ClientBase;
  readonly #release: (isBroken: boolean) => void;
  /** Added to the beginning of a transaction, for a connection that can't keep settings. */
  readonly #transactionSettings: string | undefined;
  /** After an unanswered query the connection must not be used again: the answer may still arrive. */
  #isBroken = false;

  constructor(
    client: ClientBase,
    release: (isBroken: boolean) => void,
    transactionSettings: string | undefined,
  ) {
    this.#client = client;
    this.#release = release;
    this.#transactionSettings = transactionSettings;
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
    const settings = this.#transactionSettings;
    const isBegin = text === "begin" || text.startsWith("start transaction");
    try {
      if (isBegin && settings !== undefined) {
        await this.#client.query(`${text}; ${settings}`);
        return { command: "SELECT", rowCount: 0, rows: [] };
      }
      const values = parameters?.map(withoutNul);
      return (await this.#client.query(text, values)) as unknown as PostgresQueryResult<Row>;
    } catch (raw) {
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
