import { Socket } from "node:net";
import { withTimeout } from "@codexkit/rpc/async";
import { Client, type ClientConfig } from "pg";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { applySettings } from "./connection-settings.ts";

/** Timeout for a clean disconnect. */
const END_MS = 1_000;

/** A connection outside the pool that can be closed immediately if nothing answers any more. */
export class PostgresConnection implements AsyncDisposable, Disposable {
  readonly client: Client;
  readonly #limits: StoreLimits;
  readonly #socket = new Socket();
  readonly #onLost: (error: Error) => void;
  #isPooled = false;
  #isOpen = false;
  #hasEnded = false;

  /**
   * @param onLost Called once if the open connection ends without being disposed. Until then, `open` rejects instead, so that each
   * failure is reported once.
   */
  constructor(config: ClientConfig, limits: StoreLimits, onLost: (error: Error) => void = () => {}) {
    this.client = new Client({ ...config, stream: () => this.#socket });
    this.#limits = limits;
    this.#onLost = onLost;
    this.client.on("error", (error) => this.#lost(error));
    this.client.on("end", () => this.#lost(new Error("The connection to Postgres has ended.")));
  }

  /**
   * Whether there is a connection pooler, which may run each transaction on a different server connection.
   */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async open(): Promise<void> {
    try {
      await this.client.connect();
      this.#isPooled = !(await applySettings(this.client, this.#limits));
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
    if (this.#hasEnded) throw new StoreError("store_unavailable", "The connection to Postgres was lost.");
    this.#isOpen = true;
  }

  /** Closes the connection without waiting for the server. */
  [Symbol.dispose](): void {
    this.#hasEnded = true;
    this.#socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await withTimeout(this.client.end(), END_MS, () => new Error("No answer.")).catch(() => {});
    this.#socket.destroy();
  }

  #lost(error: Error): void {
    if (this.#hasEnded) return;
    this[Symbol.dispose]();
    if (this.#isOpen) this.#onLost(error);
  }
}
