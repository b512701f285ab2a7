import { timerDelay } from "@codexkit/rpc/async";

export interface AckLimits {
  /** How long an acknowledgement waits for data with which it can be sent. */
  readonly ackDelayMs: number;
  /** Number of received bytes after which it is sent immediately. */
  readonly ackBytes: number;
}

/** Decides when to send an acknowledgement on its own. One per turn of the event loop at most. */
export class AckScheduler {
  readonly #limits: AckLimits;
  readonly #sendAck: () => void;
  #delayed: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #bytes = 0;

  constructor(limits: AckLimits, sendAck: () => void) {
    this.#limits = limits;
    this.#sendAck = sendAck;
  }

  /** Call when data arrives. A gap or a duplicate is acknowledged immediately, because the sender waits for it. */
  received(bytes: number, { isUrgent }: { readonly isUrgent: boolean }): void {
    this.#bytes += bytes;
    if (isUrgent || this.#bytes >= this.#limits.ackBytes) {
      this.#immediate ??= setImmediate(() => this.#send());
    } else {
      this.#delayed ??= setTimeout(() => this.#send(), timerDelay(this.#limits.ackDelayMs)).unref();
    }
  }

  /** Call when an acknowledgement was sent with other data, or is no longer needed. */
  clear(): void {
    this.#bytes = 0;
    clearTimeout(this.#delayed);
    clearImmediate(this.#immediate);
    this.#delayed = undefined;
    this.#immediate = undefined;
  }

  #send(): void {
    this.clear();
    this.#sendAck();
  }
}
