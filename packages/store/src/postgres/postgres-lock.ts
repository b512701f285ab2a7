import { setTimeout as delay } from "node:timers/promises";
import type { ClientConfig } from "pg";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { toStoreError } from "./postgres-errors.ts";

const RECONNECT_MS = 1_000;

interface Backend {
  readonly pid: number;
  readonly startedAt: string;
}

/**
 * An advisory lock on a connection of its own. Postgres releases it with the connection, including after
 * `kill -9`. A lost connection is reopened.
 */
export class PostgresLock implements AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #limits: StoreLimits;
  readonly #name: string;
  readonly #onWarning: (error: Error) => void;
  readonly #closing = new AbortController();
  #connection: PostgresConnection | undefined;
  /** The server process of the latest connection that held the lock. */
  #backend: Backend | undefined;
  #check: NodeJS.Timeout | undefined;

  private constructor(
    config: ClientConfig,
    limits: StoreLimits,
    name: string,
    onWarning: (error: Error) => void,
  ) {
    this.#config = { ...config, query_timeout: limits.checkMs };
    this.#limits = limits;
    this.#name = name;
    this.#onWarning = onWarning;
  }

  /** Resolves to undefined if another connection holds the lock. */
  static async acquire(
    config: ClientConfig,
    limits: StoreLimits,
    name: string,
    onWarning: (error: Error) => void,
  ): Promise<PostgresLock | undefined> {
    const lock = new PostgresLock(config, limits, name, onWarning);
    try {
      return (await lock.#connect()) ? lock : undefined;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#check);
    await this.#connection?.[Symbol.asyncDispose]();
  }

  async #connect(): Promise<boolean> {
    const connection = new PostgresConnection(this.#config, this.#limits, () => this.#onLost(connection));
    try {
      await connection.open();
      await this.#endFormer(connection);
      const backend = await this.#acquire(connection);
      if (!backend || this.#closing.signal.aborted) {
        await connection[Symbol.asyncDispose]();
        return false;
      }
      if (connection.hasEnded)
        throw new StoreError("store_unavailable", "The connection to Postgres was lost.");
      this.#connection = connection;
      this.#backend = backend;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
    this.#scheduleCheck(connection);
    return true;
  }

  /**
   * Behind a pooler, a server connection belongs to the client only during a transaction, so a transaction is
   * kept open. It has read no data and therefore doesn't prevent vacuuming.
   */
  async #acquire(connection: PostgresConnection): Promise<Backend | undefined> {
    const { client, isPooled } = connection;
    if (isPooled) await client.query("begin; set local idle_in_transaction_session_timeout = 0");
    const lock = isPooled ? "pg_try_advisory_xact_lock" : "pg_try_advisory_lock";
    const { rows } = await client.query<Backend & { readonly isHeld: boolean }>(
      `select ${lock}(hashtextextended($1, 0)) as "isHeld", pg_backend_pid() as pid,
        (select backend_start::text from pg_stat_activity where pid = pg_backend_pid()) as "startedAt"`,
      [this.#name],
    );
    return rows[0]?.isHeld === true ? rows[0] : undefined;
  }

  /** Ends the former connection, which may have been lost on this side only and still hold the lock. */
  async #endFormer({ client }: PostgresConnection): Promise<void> {
    const former = this.#backend;
    if (!former) return;
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start::text = $2",
      [former.pid, former.startedAt],
    );
  }

  #scheduleCheck(connection: PostgresConnection): void {
    this.#check = setTimeout(() => {
      connection.client.query("select 1").then(
        () => {
          if (!connection.hasEnded) this.#scheduleCheck(connection);
        },
        () => {
          if (connection.hasEnded) return;
          connection[Symbol.dispose]();
          this.#onLost(connection);
        },
      );
    }, this.#limits.probeMs);
    this.#check.unref();
  }

  /** Reconnects if the connection held the lock. Otherwise, the attempt that opened it fails and is repeated by its caller. */
  #onLost(connection: PostgresConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    clearTimeout(this.#check);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    let refusals = 0;
    while (!signal.aborted) {
      await delay(RECONNECT_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const isHeld = await this.#connect().catch(() => undefined);
      if (isHeld) return;
      // The first attempt may fail because Postgres is still closing the former connection.
      if (isHeld === false && (refusals += 1) === 2) {
        this.#onWarning(new Error(`Another process has the lock "${this.#name}" now.`));
      }
    }
  }
}
