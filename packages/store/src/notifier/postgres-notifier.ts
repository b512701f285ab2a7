import { randomUUID } from "node:crypto";
import { SerialQueue } from "@codexkit/rpc/async";
import { Client, type ClientConfig } from "pg";
import type { StoreLimits } from "../limits.ts";
import { Listeners } from "./listeners.ts";
import type { Hint, Notifier } from "./notifier.ts";

/** Postgres allows 8,000 bytes per payload. */
const MAX_PAYLOAD_BYTES = 7_900;
/** Notifications within this time go out together: NOTIFY takes a lock on the whole database. */
const COALESCE_MS = 20;
/** Unsent keys beyond this number are dropped; a poll replaces them. */
const MAX_UNSENT_KEYS = 100_000;
const PROBE_INTERVAL_MS = 10_000;
const PROBE_TIMEOUT_MS = 3_000;
const RECONNECT_MS = { first: 100, longest: 5_000 };

/**
 * LISTEN and NOTIFY on a connection of its own. Behind a connection pooler LISTEN succeeds and delivers nothing, so that the
 * notifier probes itself and polls faster while its own notifications don't arrive.
 */
export class PostgresNotifier implements Notifier, AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #channel: string;
  readonly #limits: StoreLimits;
  readonly #onWarning: (error: Error) => void;
  readonly #listeners: Listeners;
  /** Marks the notifications of this process, whose listeners have been called already. */
  readonly #origin = randomUUID();
  readonly #unsent = new Set<string>();
  /** A connection runs one query at a time. */
  readonly #queries = new SerialQueue();
  readonly #timers = {
    send: undefined as NodeJS.Timeout | undefined,
    poll: undefined as NodeJS.Timeout | undefined,
  };
  #probe: { readonly id: string; readonly timer: NodeJS.Timeout } | undefined;
  #nextProbe: NodeJS.Timeout | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #reconnectMs = RECONNECT_MS.first;
  #client: Client | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #mode: "listening" | "polling" = "polling";
  #isClosed = false;

  constructor(config: ClientConfig, channel: string, limits: StoreLimits, onWarning: (error: Error) => void) {
    this.#config = config;
    this.#channel = channel;
    this.#limits = limits;
    this.#onWarning = onWarning;
    this.#listeners = new Listeners(onWarning);
  }

  get mode(): "listening" | "polling" {
    return this.#mode;
  }

  /** Connects in the background. Until then, and after each loss of the connection, listeners are polled. */
  start(): void {
    this.#schedulePoll();
    void this.#connect();
  }

  notify(keys: Iterable<string>): void {
    const list = [...keys];
    for (const key of list) if (this.#unsent.size < MAX_UNSENT_KEYS) this.#unsent.add(key);
    this.#listeners.call(list);
    if (this.#timers.send || this.#isClosed) return;
    const wait = Math.max(0, this.#sentAt + COALESCE_MS - performance.now());
    this.#timers.send = setTimeout(() => this.#send(), wait);
  }

  subscribe(key: string, listener: (hint: Hint) => void): Disposable {
    return this.#listeners.add(key, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#send();
    this.#isClosed = true;
    clearTimeout(this.#timers.send);
    clearTimeout(this.#timers.poll);
    clearTimeout(this.#nextProbe);
    clearTimeout(this.#probe?.timer);
    clearTimeout(this.#reconnect);
    const client = this.#client;
    this.#client = undefined;
    await this.#queries.run(() => client?.end().catch(() => {}));
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config);
    client.on("error", (error) => this.#onLost(client, error));
    client.on("end", () => this.#onLost(client, new Error("The connection for notifications has ended.")));
    client.on("notification", ({ payload }) => this.#onNotification(payload ?? ""));
    try {
      this.#client = client;
      await client.connect();
      await this.#queries.run(() => client.query(`listen ${client.escapeIdentifier(this.#channel)}`));
      this.#reconnectMs = RECONNECT_MS.first;
      this.#startProbe();
    } catch (error) {
      this.#onLost(client, error as Error);
    }
  }

  #onLost(client: Client, error: Error): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    this.#setMode("polling");
    clearTimeout(this.#probe?.timer);
    clearTimeout(this.#nextProbe);
    this.#probe = undefined;
    void client.end().catch(() => {});
    this.#onWarning(error);
    this.#reconnect = setTimeout(() => void this.#connect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, RECONNECT_MS.longest);
  }

  /** Notifies itself. The answer proves that LISTEN works. */
  #startProbe(): void {
    const client = this.#client;
    if (!client || this.#isClosed) return;
    const id = randomUUID();
    const timer = setTimeout(() => {
      this.#probe = undefined;
      this.#setMode("polling");
      this.#startProbe();
    }, PROBE_TIMEOUT_MS);
    this.#probe = { id, timer };
    this.#notifyOthers(client, `${this.#origin}\n${id}`);
  }

  #onNotification(payload: string): void {
    const [origin = "", ...keys] = payload.split("\n");
    if (origin !== this.#origin) return this.#listeners.call(keys);
    if (this.#probe === undefined || keys[0] !== this.#probe.id) return;
    clearTimeout(this.#probe.timer);
    this.#probe = undefined;
    this.#setMode("listening");
    this.#nextProbe = setTimeout(() => this.#startProbe(), PROBE_INTERVAL_MS);
  }

  #send(): void {
    this.#timers.send = undefined;
    this.#sentAt = performance.now();
    const client = this.#client;
    const keys = [...this.#unsent];
    this.#unsent.clear();
    if (!client) return;
    let payload = this.#origin;
    for (const key of keys) {
      if (Buffer.byteLength(payload) + Buffer.byteLength(key) + 1 > MAX_PAYLOAD_BYTES) {
        this.#notifyOthers(client, payload);
        payload = this.#origin;
      }
      payload += `\n${key}`;
    }
    if (payload !== this.#origin) this.#notifyOthers(client, payload);
  }

  #notifyOthers(client: Client, payload: string): void {
    this.#queries
      .run(() => client.query("select pg_notify($1, $2)", [this.#channel, payload]))
      .catch((error: Error) => this.#onLost(client, error));
  }

  #setMode(mode: "listening" | "polling"): void {
    if (this.#mode === mode) return;
    this.#mode = mode;
    // Hints may have been lost before the change.
    this.#listeners.callAll("poll");
    this.#schedulePoll();
  }

  #schedulePoll(): void {
    clearTimeout(this.#timers.poll);
    if (this.#isClosed) return;
    const { pollMs, fastPollMs } = this.#limits;
    this.#timers.poll = setTimeout(
      () => {
        this.#listeners.callAll("poll");
        this.#schedulePoll();
      },
      this.#mode === "listening" ? pollMs : fastPollMs,
    );
  }
}
