import { SerialQueue, withTimeout } from "@codexkit/rpc/async";
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import type { ClientConfig } from "pg";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import type { DedicatedConnection } from "../store.ts";
import { connectionState } from "./connection-settings.ts";
import { MappedClient } from "./mapped-client.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { toStoreError } from "./postgres-errors.ts";
import { PreparedStatements } from "./prepared-statements.ts";

/** A connection of its own, whose queries wait only for each other. */
export class PostgresDedicated<Tables> implements DedicatedConnection<Tables> {
  readonly #pool: SingleConnection;
  readonly #db: Kysely<Tables>;
  readonly #queue = new SerialQueue();
  readonly #timeoutMs: number;
  readonly #onTimeout: () => void;

  constructor(config: ClientConfig, limits: StoreLimits, timeoutMs: number, onTimeout: () => void) {
    this.#pool = new SingleConnection(config, limits);
    this.#db = new Kysely({ dialect: new PostgresDialect({ pool: this.#pool }) });
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
  }

  async run<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result> {
    const until = performance.now() + this.#timeoutMs;
    const timeout = new StoreError(
      "store_unavailable",
      `Postgres did not answer within ${this.#timeoutMs} ms.`,
    );
    return this.#queue.run(async () => {
      try {
        return await withTimeout(work(this.#db), until - performance.now(), () => timeout);
      } catch (error) {
        if (error === timeout) {
          this.#pool.discard();
          this.#onTimeout();
        }
        throw error;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy();
  }
}

class SingleConnection implements PostgresPool {
  readonly options: ClientConfig;
  readonly #limits: StoreLimits;
  readonly #statements = new PreparedStatements();
  #connection: PostgresConnection | undefined;
  #client: MappedClient | undefined;
  #isClosed = false;

  constructor(config: ClientConfig, limits: StoreLimits) {
    this.options = config;
    this.#limits = limits;
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#isClosed) throw new StoreError("store_closed", "The store is closed.");
    if (this.#client && this.#connection?.hasEnded === false) return this.#client;
    const connection = new PostgresConnection(this.options, this.#limits);
    this.#connection = connection;
    this.#client = undefined;
    try {
      await connection.open();
    } catch (error) {
      throw toStoreError(error);
    }
    const state = connectionState(!connection.isPooled, this.#limits, this.#statements);
    const release = (isBroken: boolean): void => {
      if (isBroken) connection[Symbol.dispose]();
    };
    this.#client = new MappedClient(connection.client, release, state);
    return this.#client;
  }

  /** Closes the connection immediately. The next call opens a new one. */
  discard(): void {
    this.#connection?.[Symbol.dispose]();
  }

  async end(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.[Symbol.asyncDispose]();
  }
}
