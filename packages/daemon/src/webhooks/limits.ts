/** Limits for webhooks and webhook tools. */
export interface WebhookLimits {
  /** Maximum number of attempts per message. Default: 9, which takes about nine hours. */
  readonly attempts: number;
  /** Delay after the first attempt, in milliseconds. Each delay is four times the previous one. Default: 2,000. */
  readonly retryMs: number;
  /** Maximum delay, in milliseconds. Default: 6 hours. */
  readonly maxRetryMs: number;
  /** Timeout of a request in milliseconds, from the DNS lookup to the end of the response. Default: 10,000. */
  readonly requestTimeoutMs: number;
  /** Maximum bytes of a receiver's response. Default: 64 KiB. */
  readonly responseBytes: number;
  /** Maximum bytes of a tool's response. Default: 8 MiB. */
  readonly toolResponseBytes: number;
  /** Maximum number of concurrent deliveries. Default: 16. */
  readonly concurrency: number;
  /**
   * Maximum number of concurrent deliveries per webhook, so that a slow receiver does not delay the others. Default: 4.
   */
  readonly concurrencyPerWebhook: number;
  /** How long the record of a finished delivery is kept, in milliseconds. Default: 7 days. */
  readonly keepMs: number;
  /** Maximum number of registered webhooks. Default: 100. */
  readonly webhooks: number;
}

const HOUR_MS = 3_600_000;

export const WEBHOOK_LIMITS: WebhookLimits = {
  attempts: 9,
  retryMs: 2000,
  maxRetryMs: 6 * HOUR_MS,
  requestTimeoutMs: 10_000,
  responseBytes: 64 * 1024,
  toolResponseBytes: 8 * 1024 * 1024,
  concurrency: 16,
  concurrencyPerWebhook: 4,
  keepMs: 7 * 24 * HOUR_MS,
  webhooks: 100,
};

/** Settings for calling webhooks and tools of this daemon. */
export interface WebhookSettings {
  readonly limits: WebhookLimits;
  /** Whether addresses outside the public internet are allowed. */
  readonly allowPrivate: boolean;
}

export const WEBHOOK_SETTINGS: WebhookSettings = { limits: WEBHOOK_LIMITS, allowPrivate: false };
