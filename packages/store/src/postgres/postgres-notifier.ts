import { randomUUID } from "node:crypto";
import { SerialQueue } from "@codexkit/rpc/async";
import type { ClientConfig } from "pg";
import type { StoreLimits } from "../limits.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { Listeners } from "../notifier/listeners.ts";
import type { Hint, Notifier } from "../notifier/notifier.ts";

/** Postgres allows 8,000 bytes per payload. */
const MAX_PAYLOAD_BYTES = 7_900;
/**
 * Notifications are batched, because NOTIFY takes a lock on the whole database. On average, one message is
 * sent per five times the duration of the previous one, or per `COALESCE_MS` if that is shorter.
 */
const COALESCE_MS = 5;
const COALESCE_RATIO = 5;
/** Number of messages that may be sent at once, so that a single command and its result are never delayed. */
const BURST = 8;
/** Unsent keys beyond this number are dropped; polling makes up for them. */
const MAX_UNSENT_KEYS = 100_000;
const RECONNECT_MS = { first: 100, longest: 5_000 };

/**
 * LISTEN and NOTIFY on a connection of its own. Behind a connection pooler, LISTEN succeeds but delivers
 * nothing. The notifier therefore sends probes to itself and polls faster while its own notifications don't
 * arrive.
 */
export class PostgresNotifier implements Notifier, AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #channel: string;
  readonly #limits: StoreLimits;
  readonly #onWarning: (error: Error) => void;
  readonly #listeners: Listeners;
  /** Identifies notifications of this process, whose listeners have already been called. */
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
  #connection: PostgresConnection | undefined;
  /** When all messages so far would have been sent if each had waited for its pause. */
  #paidUntil = Number.NEGATIVE_INFINITY;
  #pauseMs = COALESCE_MS;
  #mode: "listening" | "polling" = "polling";
  /** Whether a timer or microtask is scheduled to send the unsent keys. */
  #isSending = false;
  #isClosed = false;

  constructor(config: ClientConfig, channel: string, limits: StoreLimits, onWarning: (error: Error) => void) {
    this.#config = { ...config, query_timeout: limits.checkMs };
    this.#channel = channel;
    this.#limits = limits;
    this.#onWarning = onWarning;
    this.#listeners = new Listeners(onWarning);
  }

  get mode(): "listening" | "polling" {
    return this.#mode;
  }

  /**
   * Connects in the background. Until it is connected, and after each loss of the connection, listeners are
   * polled.
   */
  start(): void {
    this.#schedulePoll();
    void this.#connect();
  }

  notify(keys: Iterable<string>): void {
    const list = [...keys];
    for (const key of list) if (this.#unsent.size < MAX_UNSENT_KEYS) this.#unsent.add(key);
    this.#listeners.call(list);
    if (this.#isSending || this.#isClosed) return;
    this.#isSending = true;
    const wait = this.#paidUntil - BURST * COALESCE_MS - performance.now();
    // A timer takes at least a millisecond.
    if (wait > 0) this.#timers.send = setTimeout(() => this.#send(), wait);
    else queueMicrotask(() => this.#send());
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
    const connection = this.#connection;
    this.#connection = undefined;
    await this.#queries.run(() => connection?.[Symbol.asyncDispose]());
  }

  async #connect(): Promise<void> {
    const connection = new PostgresConnection(this.#config, this.#limits, (error) =>
      this.#onLost(connection, error),
    );
    const { client } = connection;
    client.on("notification", ({ payload }) => this.#onNotification(payload ?? ""));
    try {
      this.#connection = connection;
      await connection.open();
      // A lost hint does no harm, whereas a commit that waits for the disk would hold the database-wide lock
      // for that long.
      if (!connection.isPooled) await client.query("set synchronous_commit = off");
      await this.#queries.run(() => client.query(`listen ${client.escapeIdentifier(this.#channel)}`));
      this.#reconnectMs = RECONNECT_MS.first;
      this.#startProbe();
    } catch (error) {
      this.#onLost(connection, error as Error);
    }
  }

  #onLost(connection: PostgresConnection, error: Error): void {
    connection[Symbol.dispose]();
    if (this.#connection !== connection || this.#isClosed) return;
    this.#connection = undefined;
    this.#setMode("polling");
    clearTimeout(this.#probe?.timer);
    clearTimeout(this.#nextProbe);
    this.#probe = undefined;
    this.#onWarning(error);
    this.#reconnect = setTimeout(() => void this.#connect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, RECONNECT_MS.longest);
  }

  /** Notifies itself. Receiving the notification proves that LISTEN works. */
  #startProbe(): void {
    const connection = this.#connection;
    if (!connection || this.#isClosed) return;
    const id = randomUUID();
    const timer = setTimeout(() => {
      this.#probe = undefined;
      this.#setMode("polling");
      this.#nextProbe = setTimeout(() => this.#startProbe(), connection.isPooled ? this.#limits.probeMs : 0);
    }, this.#limits.checkMs);
    this.#probe = { id, timer };
    const payload = `${this.#origin}\n${id}`;
    if (connection.isPooled) void this.#notifyFromOutside(payload);
    else this.#sendNotification(connection, payload);
  }

  /**
   * Sends the probe over another connection. Behind a pooler, a client may happen to get the listening
   * connection while it sends its own notification, so only a notification from another connection proves
   * anything. If none arrives, the probe fails.
   */
  async #notifyFromOutside(payload: string): Promise<void> {
    await using connection = new PostgresConnection(this.#config, this.#limits);
    try {
      await connection.open();
      await connection.client.query("select pg_notify($1, $2)", [this.#channel, payload]);
    } catch {}
  }

  #onNotification(payload: string): void {
    const [origin = "", ...keys] = payload.split("\n");
    if (origin !== this.#origin) return this.#listeners.call(keys);
    if (this.#probe === undefined || keys[0] !== this.#probe.id) return;
    clearTimeout(this.#probe.timer);
    this.#probe = undefined;
    this.#setMode("listening");
    this.#nextProbe = setTimeout(() => this.#startProbe(), this.#limits.probeMs);
  }

  #send(): void {
    this.#isSending = false;
    this.#paidUntil = Math.max(this.#paidUntil, performance.now()) + this.#pauseMs;
    const connection = this.#connection;
    const keys = [...this.#unsent];
    this.#unsent.clear();
    if (!connection) return;
    let payload = this.#origin;
    for (const key of keys) {
      if (Buffer.byteLength(payload) + Buffer.byteLength(key) + 1 > MAX_PAYLOAD_BYTES) {
        this.#sendNotification(connection, payload);
        payload = this.#origin;
      }
      payload += `\n${key}`;
    }
    if (payload !== this.#origin) this.#sendNotification(connection, payload);
  }

  #sendNotification(connection: PostgresConnection, payload: string): void {
    this.#queries
      .run(async () => {
        const begin = performance.now();
        await connection.client.query("select pg_notify($1, $2)", [this.#channel, payload]);
        this.#pauseMs = Math.min((performance.now() - begin) * COALESCE_RATIO, COALESCE_MS);
      })
      .catch((error: Error) => this.#onLost(connection, error));
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
