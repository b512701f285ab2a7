/** Limits of webhooks and of tools that are called by webhook. */
export interface WebhookLimits {
  /** How often a message is tried. Default: 9, which takes about nine hours. */
  readonly attempts: number;
  /** Pause after the first attempt, in milliseconds. Each pause is four times the one before. Default: 2,000. */
  readonly retryMs: number;
  /** Longest pause, in milliseconds. Default: 6 hours. */
  readonly maxRetryMs: number;
  /** From the look-up of the name to the end of the response, in milliseconds. Default: 10,000. */
  readonly requestTimeoutMs: number;
  /** Bytes of a receiver's response. Default: 64 KiB. */
  readonly responseBytes: number;
  /** Bytes of the response of a tool. Default: 8 MiB. */
  readonly toolResponseBytes: number;
  /** Messages on their way at once. Default: 16. */
  readonly concurrency: number;
  /** Messages on their way to one webhook at once, so that a slow one does not hold up the others. Default: 4. */
  readonly concurrencyPerWebhook: number;
  /** How long the record of a finished delivery is kept, in milliseconds. Default: 7 days. */
  readonly keepMs: number;
  /** Webhooks that are registered at once. Default: 100. */
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

/** How webhooks and tools of this daemon are called. */
export interface WebhookSettings {
  readonly limits: WebhookLimits;
  /** Whether addresses outside the public internet are allowed. */
  readonly allowPrivate: boolean;
}

export const WEBHOOK_SETTINGS: WebhookSettings = { limits: WEBHOOK_LIMITS, allowPrivate: false };
