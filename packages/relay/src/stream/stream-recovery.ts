import { timerDelay } from "@codexkit/rpc/async";
import type { RelayLimits } from "../limits.ts";

/** Resets in a row, without any other frame, after which a harness tries another connection. */
const RESETS_PER_CONNECTION = 3;
/** Connections in a row with so many resets, after which the executor does not have the stream any more. */
const FAILED_CONNECTIONS = 2;

export interface RecoveryEvents {
  /** Asks the other end to resume. */
  readonly onRetry: () => void;
  /** The connection reaches no end that has the stream. */
  readonly onHopeless: () => void;
  /** No connection does: the other end has restarted. */
  readonly onUnknown: () => void;
  /** The time is over. */
  readonly onTimeout: () => void;
}

/** The time between the loss of a reliable stream's connection and its resumption. */
export class StreamRecovery {
  readonly #limits: RelayLimits;
  readonly #events: RecoveryEvents;
  #deadline: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #delayMs = 0;
  #resets = 0;
  #failedConnections = 0;

  constructor(limits: RelayLimits, events: RecoveryEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Whether the stream waits for its resumption. */
  get isActive(): boolean {
    return this.#deadline !== undefined;
  }

  begin(): void {
    // Keeps the process alive: without a connection, nothing else might.
    this.#deadline ??= setTimeout(() => this.#events.onTimeout(), timerDelay(this.#limits.resumeTimeoutMs));
  }

  /** There is a connection: asks the other end at once, and again until it answers. */
  connected(): void {
    this.#delayMs = this.#limits.resumeRetryMs;
    this.#resets = 0;
    this.#ask();
  }

  /** There is no connection, or the other end is expected to ask. */
  disconnected(): void {
    clearTimeout(this.#retry);
  }

  /** The stream was reset, which anyone on the way could have done: one reset does not end a reliable stream. */
  wasReset(): void {
    this.#resets += 1;
    if (this.#resets < RESETS_PER_CONNECTION) return this.#scheduleRetry();
    this.#failedConnections += 1;
    if (this.#failedConnections < FAILED_CONNECTIONS) this.#events.onHopeless();
    else this.#events.onUnknown();
  }

  /** The other end answered, or the stream has ended. */
  end(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#retry);
    this.#deadline = undefined;
    this.#resets = 0;
    this.#failedConnections = 0;
  }

  #ask(): void {
    this.#events.onRetry();
    this.#scheduleRetry();
  }

  #scheduleRetry(): void {
    clearTimeout(this.#retry);
    this.#delayMs ||= this.#limits.resumeRetryMs;
    this.#retry = setTimeout(() => this.#ask(), timerDelay(this.#delayMs)).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, this.#limits.maxResumeRetryMs);
  }
}
