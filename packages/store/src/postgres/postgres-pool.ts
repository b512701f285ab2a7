import { setTimeout as delay } from "node:timers/promises";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import { Pool, type ClientBase, type ClientConfig, type PoolClient } from "pg";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { applySettings, connectionState } from "./connection-settings.ts";
import { MappedClient } from "./mapped-client.ts";
import { toStoreError } from "./postgres-errors.ts";
import { PreparedStatements } from "./prepared-statements.ts";

const RETRY_MS = { first: 50, longest: 500 };

interface CheckedClient {
  readonly client: MappedClient;
  /** The pool's loss count when this connection was last known to work. */
  checkedAtLoss: number;
}

/** A pool for Kysely's dialect that waits for a restarting server and reports errors as `StoreError`. */
export class RetryingPool implements PostgresPool {
  /** Kysely uses these options to open a connection for cancelling a query. */
  readonly options: ClientConfig;
  readonly #pool: Pool;
  readonly #limits: StoreLimits;
  readonly #statements = new PreparedStatements();
  readonly #clients = new WeakMap<PoolClient, CheckedClient>();
  /**
   * Number of lost connections. A connection that was last checked before a loss may also be lost without
   * having reported it.
   */
  #losses = 0;
  #isClosed = false;

  constructor(config: ClientConfig, limits: StoreLimits, onWarning: (error: Error) => void) {
    this.options = config;
    this.#pool = new Pool({ ...config, max: limits.connections });
    this.#limits = limits;
    // Without a listener, losing an idle connection would crash the process.
    this.#pool.on("error", onWarning);
    // The pool listens to idle connections only. This is added before it hands out a new one, because the message that a connection
    // is ready and the message that it ends can arrive together.
    this.#pool.on("connect", (client) => client.on("error", () => this.suspect()));
  }

  async connect(): Promise<PostgresPoolClient> {
    const until = performance.now() + this.#limits.connectMs;
    for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.longest)) {
      if (this.#isClosed) throw new StoreError("store_closed", "The store is closed.");
      try {
        return await this.#check(await this.#pool.connect());
      } catch (raw) {
        const error = toStoreError(raw);
        const mayRetry = StoreError.is(error) && error.code === "store_unavailable" && !this.#isClosed;
        if (!mayRetry || performance.now() + waitMs >= until) throw error;
        await delay(waitMs);
      }
    }
  }

  /**
   * Call when another connection to the server was lost. Every pooled connection is then checked before its
   * next use.
   */
  suspect(): void {
    this.#losses += 1;
  }

  async end(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  /** Kysely identifies a connection by the returned object. */
  async #check(client: PoolClient): Promise<PostgresPoolClient> {
    const known = this.#clients.get(client);
    if (known?.checkedAtLoss === this.#losses) return known.client;
    const losses = this.#losses;
    try {
      if (known) {
        await checkConnection(client, this.#limits.checkMs);
        known.checkedAtLoss = losses;
        return known.client;
      }
      const isDirect = await applySettings(client, this.#limits);
      const mapped = new MappedClient(
        client,
        (isBroken) => this.#release(client, isBroken),
        connectionState(isDirect, this.#limits, this.#statements),
      );
      this.#clients.set(client, { client: mapped, checkedAtLoss: losses });
      return mapped;
    } catch (error) {
      this.#release(client, true);
      throw error;
    }
  }

  #release(client: PoolClient, isBroken: boolean): void {
    if (isBroken) this.suspect();
    client.release(isBroken);
  }
}

async function checkConnection(client: ClientBase, timeoutMs: number): Promise<void> {
  const query = { text: "select 1", query_timeout: timeoutMs };
  await client.query(query);
}
