import { timerDelay } from "@codexkit/rpc/async";
import type { RelayLimits } from "../limits.ts";

/** Number of successive resets, without any other frame, after which a harness tries another connection. */
const RESETS_PER_CONNECTION = 3;
/** Number of successive connections with so many resets after which the executor is assumed to have lost the stream. */
const FAILED_CONNECTIONS = 2;

export interface RecoveryEvents {
  /** Asks the other end to resume. */
  readonly onRetry: () => void;
  /** Called when no end of this connection has the stream. */
  readonly onHopeless: () => void;
  /** Called when no connection has it, because the other end was restarted. */
  readonly onUnknown: () => void;
  /** Called when the time for the resumption has passed. */
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

  /** Call when there is a connection. Asks the other end immediately, and repeats this until it answers. */
  connected(): void {
    this.#delayMs = this.#limits.resumeRetryMs;
    this.#resets = 0;
    this.#ask();
  }

  /** Call when there is no connection, or when the other end is expected to ask. */
  disconnected(): void {
    clearTimeout(this.#retry);
  }

  /** Call when the stream was reset. A single reset does not end a reliable stream, because the rendezvous can forge it. */
  wasReset(): void {
    this.#resets += 1;
    if (this.#resets < RESETS_PER_CONNECTION) return this.#scheduleRetry();
    this.#failedConnections += 1;
    if (this.#failedConnections < FAILED_CONNECTIONS) this.#events.onHopeless();
    else this.#events.onUnknown();
  }

  /** Call when the other end has answered, or the stream has ended. */
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
