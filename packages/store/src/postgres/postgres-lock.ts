import { setTimeout as delay } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import { toStoreError } from "./postgres-errors.ts";

const RECONNECT_MS = 1_000;

/**
 * An advisory lock on a connection of its own, which Postgres releases with the connection, also after `kill -9`. A lost
 * connection is made again.
 */
export class PostgresLock implements AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #name: string;
  readonly #onWarning: (error: Error) => void;
  readonly #closing = new AbortController();
  #client: Client | undefined;

  private constructor(config: ClientConfig, name: string, onWarning: (error: Error) => void) {
    this.#config = config;
    this.#name = name;
    this.#onWarning = onWarning;
  }

  /** Undefined if another connection holds the lock. */
  static async acquire(
    config: ClientConfig,
    name: string,
    onWarning: (error: Error) => void,
  ): Promise<PostgresLock | undefined> {
    const lock = new PostgresLock(config, name, onWarning);
    try {
      return (await lock.#connect()) ? lock : undefined;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#client?.end().catch(() => {});
  }

  async #connect(): Promise<boolean> {
    const client = new Client(this.#config);
    client.on("error", () => {});
    try {
      await client.connect();
      const text = "select pg_try_advisory_lock(hashtextextended($1, 0)) as held";
      const { rows } = await client.query<{ held: boolean }>(text, [this.#name]);
      if (rows[0]?.held !== true || this.#closing.signal.aborted) {
        await client.end();
        return false;
      }
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    client.once("end", () => void this.#reconnect());
    return true;
  }

  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    let isReported = false;
    while (!signal.aborted) {
      await delay(RECONNECT_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const isHeld = await this.#connect().catch(() => undefined);
      if (isHeld) return;
      if (isHeld === false && !isReported) {
        isReported = true;
        this.#onWarning(new Error(`Another process has the lock "${this.#name}" now.`));
      }
    }
  }
}
