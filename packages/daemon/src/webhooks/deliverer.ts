import { BoundedSet, timerDelay } from "@codexkit/rpc/async";
import type { Logger } from "pino";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import { DaemonError } from "../errors.ts";
import { Wake } from "../wake.ts";
import { guardedRequest } from "./guarded-request.ts";
import type { WebhookSettings } from "./limits.ts";
import { composeMessage } from "./message.ts";
import { signedHeaders } from "../webhook-store/signature.ts";
import type { DeliveryOutcome, DueDelivery } from "../webhook-store/webhook-store.ts";

const BACKOFF = 4;
/** Fraction by which pauses vary, so that messages that failed together are not retried together. */
const JITTER = 0.2;
/** Interval of queries for messages from other nodes whose notification was lost. */
const POLL_MS = 30_000;
const GONE = 410;
/** A receiver is slow if it has not responded within this share of the timeout. */
const SLOW_SHARE = 0.25;
/** Share of the concurrent deliveries that slow receivers get together, so that the others never wait for them. */
const SLOW_CONCURRENCY_SHARE = 0.5;
/** More than there are webhooks, because deleted ones are not removed. */
const MAX_SLOW = 1000;
const ERROR_LENGTH = 500;

export interface DelivererOptions extends WebhookSettings {
  readonly database: Database;
  readonly log: Pick<Logger, "warn">;
}

/** Sends the stored messages to their webhooks, and retries failed attempts. */
export class WebhookDeliverer implements AsyncDisposable {
  readonly #options: DelivererOptions;
  readonly #stop = new AbortController();
  readonly #wake = new Wake();
  readonly #active = new Map<Promise<void>, string>();
  /** Webhooks whose receiver is slow. Each has one delivery at a time, until its receiver responds in time. */
  readonly #slow = new BoundedSet<string>(MAX_SLOW);
  readonly #subscription: Disposable;
  readonly #work: Promise<void>;

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { notifier } = options.database.store;
    this.#subscription = notifier.subscribe(notificationKeys.webhooks, () => this.#wake.set());
    this.#work = this.#run();
  }

  /** Aborts requests in progress. Their messages are sent again after the next start. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#wake.set();
    this.#subscription[Symbol.dispose]();
    await this.#work;
    await Promise.all(this.#active.keys());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(): Promise<void> {
    const { log } = this.#options;
    while (!this.#stop.signal.aborted) {
      let pauseMs = POLL_MS;
      try {
        pauseMs = await this.#startDue();
      } catch (error) {
        log.warn({ err: error }, "Failed to query webhook deliveries");
      }
      await this.#wake.wait(timerDelay(pauseMs));
    }
  }

  /** Starts the deliveries that are due, and returns how long to wait for the next one. */
  async #startDue(): Promise<number> {
    const { database, limits } = this.#options;
    const { concurrency, requestTimeoutMs } = limits;
    while (this.#active.size < concurrency && !this.#stop.signal.aborted) {
      const busy = this.#busyWebhooks();
      const due = await database.webhooks.claim({ holdMs: requestTimeoutMs * 2, busy });
      if (!due) return Math.min(POLL_MS, (await database.webhooks.nextDueIn(busy)) ?? POLL_MS);
      this.#start(due);
    }
    // The end of a delivery also ends the wait.
    return POLL_MS;
  }

  /** Returns the webhooks for which no further delivery may be started now. */
  #busyWebhooks(): string[] {
    const { concurrency, concurrencyPerWebhook } = this.#options.limits;
    const active = [...this.#active.values()];
    const busy = new Set<string>();
    for (const [id, { length }] of Map.groupBy(active, (webhookId) => webhookId)) {
      if (length >= (this.#slow.has(id) ? 1 : concurrencyPerWebhook)) busy.add(id);
    }
    const maxSlow = Math.max(1, Math.floor(concurrency * SLOW_CONCURRENCY_SHARE));
    if (active.filter((id) => this.#slow.has(id)).length >= maxSlow)
      for (const id of this.#slow) busy.add(id);
    return [...busy];
  }

  #start(due: DueDelivery): void {
    const work = this.#deliver(due)
      .catch((error: unknown) => {
        // The delivery is claimed again when its attempt counts as failed.
        this.#options.log.warn({ err: error, deliveryId: due.delivery.id }, "Failed to record a delivery");
      })
      .finally(() => {
        this.#active.delete(work);
        this.#wake.set();
      });
    this.#active.set(work, due.webhook.id);
  }

  async #deliver(due: DueDelivery): Promise<void> {
    const { database } = this.#options;
    const outcome = await this.#attempt(due);
    if (outcome === undefined) return;
    await database.webhooks.finish(due, outcome);
  }

  /** Resolves to undefined if the daemon has been closed in the meantime. */
  async #attempt({ delivery, webhook }: DueDelivery): Promise<DeliveryOutcome | undefined> {
    const { database, limits, allowPrivate } = this.#options;
    let status: number | null = null;
    try {
      const message = await composeMessage(database, delivery);
      if (!message) return { state: "failed", status, error: "The session was deleted." };
      const body = JSON.stringify(message);
      const request = guardedRequest({
        url: webhook.url,
        headers: signedHeaders(webhook.secret, { id: delivery.id, at: Date.now(), body }),
        body,
        allowPrivate,
        timeoutMs: limits.requestTimeoutMs,
        maxResponseBytes: limits.responseBytes,
        signal: this.#stop.signal,
      });
      ({ status } = await this.#watchDuration(webhook.id, request));
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      return this.#failure(delivery.attempts, null, describe(error));
    }
    if (status >= 200 && status < 300) return { state: "delivered", status };
    const isRedirect = status >= 300 && status < 400;
    const error = `The receiver responded with status ${status}.${isRedirect ? " Redirects are not followed." : ""}`;
    if (status === GONE) return { state: "failed", status, error, isGone: true };
    return this.#failure(delivery.attempts, status, error);
  }

  /** Records whether the receiver is slow. Settles like the request. */
  async #watchDuration<Value>(webhookId: string, request: Promise<Value>): Promise<Value> {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#slow.add(webhookId);
    }, this.#options.limits.requestTimeoutMs * SLOW_SHARE);
    try {
      return await request;
    } finally {
      clearTimeout(timer);
      if (!isSlow) this.#slow.delete(webhookId);
    }
  }

  #failure(attempts: number, status: number | null, error: string): DeliveryOutcome {
    const { limits } = this.#options;
    if (attempts >= limits.attempts) return { state: "failed", status, error };
    const pause = Math.min(limits.retryMs * BACKOFF ** (attempts - 1), limits.maxRetryMs);
    const retryMs = Math.round(pause * (1 + JITTER * (Math.random() * 2 - 1)));
    return { state: "pending", status, error, retryMs };
  }
}

/** The code of a connection error is more specific than its message. */
function describe(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  const prefix = code === undefined || DaemonError.is(error) ? "" : `${code}: `;
  return `${prefix}${message ?? String(error)}`.slice(0, ERROR_LENGTH);
}
