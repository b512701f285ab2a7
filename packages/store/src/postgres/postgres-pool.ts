import { setTimeout as delay } from "node:timers/promises";
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import { Pool, types, type ClientConfig, type PoolClient } from "pg";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { toStoreError } from "./postgres-errors.ts";

const RETRY_MS = { first: 50, longest: 500 };
/** Beyond the server's own limit, so that it is reached only when the server doesn't answer at all. */
const UNANSWERED_MS = 5_000;

export function clientConfig(url: string, limits: StoreLimits): ClientConfig {
  return {
    connectionString: url,
    keepAlive: true,
    connectionTimeoutMillis: limits.connectMs,
    query_timeout: limits.statementMs + UNANSWERED_MS,
    // Counts and times are far below 2^53, so that numbers are the better type for them.
    types: {
      getTypeParser: (oid: Parameters<typeof types.getTypeParser>[0], format?: "text" | "binary") =>
        oid === types.builtins.INT8 || oid === types.builtins.NUMERIC
          ? Number
          : types.getTypeParser(oid, format),
    },
  };
}

/** A pool for Kysely's dialect that waits for a restarting server, with errors as `StoreError`. */
export class RetryingPool implements PostgresPool {
  /** Kysely opens its connection for cancelling a query with these. */
  readonly options: ClientConfig;
  readonly #pool: Pool;
  readonly #limits: StoreLimits;
  readonly #clients = new WeakMap<PoolClient, MappedClient>();
  /** How many connections were lost. A connection that was last checked before a loss may be lost too, unnoticed so far. */
  #losses = 0;
  #isClosed = false;

  constructor(config: ClientConfig, limits: StoreLimits, onWarning: (error: Error) => void) {
    this.options = config;
    this.#pool = new Pool({ ...config, max: limits.connections });
    this.#limits = limits;
    // Without a listener, the loss of an idle connection would end the process.
    this.#pool.on("error", onWarning);
  }

  async connect(): Promise<PostgresPoolClient> {
    const until = performance.now() + this.#limits.connectMs;
    for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.longest)) {
      if (this.#isClosed) throw new StoreError("store_closed", "The store is closed.");
      try {
        return await this.#wrap(await this.#pool.connect());
      } catch (raw) {
        const error = toStoreError(raw);
        const mayRetry = StoreError.is(error) && error.code === "store_unavailable" && !this.#isClosed;
        if (!mayRetry || performance.now() + waitMs >= until) throw error;
        await delay(waitMs);
      }
    }
  }

  async end(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  /** Kysely recognises a connection by the identity of this object. */
  async #wrap(client: PoolClient): Promise<PostgresPoolClient> {
    let wrapped = this.#clients.get(client);
    if (wrapped?.checkedAtLoss === this.#losses) return wrapped;
    if (!wrapped) {
      wrapped = new MappedClient(client);
      client.on("error", () => (this.#losses += 1));
      this.#clients.set(client, wrapped);
    }
    const losses = this.#losses;
    try {
      await client.query(this.#sessionSettings());
    } catch (error) {
      client.release(true);
      throw error;
    }
    wrapped.checkedAtLoss = losses;
    return wrapped;
  }

  /** As a statement: connection poolers refuse these settings as parameters of the connection. */
  #sessionSettings(): string {
    const { statementMs, lockMs } = this.#limits;
    return `set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs}; set idle_in_transaction_session_timeout = ${statementMs}`;
  }
}

class MappedClient implements PostgresPoolClient {
  /** The pool's count of losses when this connection was last known to work. */
  checkedAtLoss = -1;
  readonly #client: PoolClient;
  /** After an unanswered query the connection must not be used again: the answer may still arrive. */
  #isBroken = false;

  constructor(client: PoolClient) {
    this.#client = client;
    // An error while the client is checked out also rejects its query, which reports it.
    client.on("error", () => {
      this.#isBroken = true;
    });
  }

  async query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query(cursor: never): never;
  async query<Row>(text: string, parameters?: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    try {
      const values = parameters?.map(withoutNul);
      return (await this.#client.query(text, values)) as unknown as PostgresQueryResult<Row>;
    } catch (raw) {
      const error = toStoreError(raw);
      if (StoreError.is(error) && error.code === "store_unavailable") this.#isBroken = true;
      throw error;
    }
  }

  release(isDiscarded?: boolean): void {
    this.#client.release(this.#isBroken || isDiscarded === true);
  }
}

/** Postgres accepts no NUL character in text, but input may contain one. It is replaced, like other invalid characters. */
function withoutNul(value: unknown): unknown {
  if (typeof value === "string") return value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
  return Array.isArray(value) ? value.map(withoutNul) : value;
}
