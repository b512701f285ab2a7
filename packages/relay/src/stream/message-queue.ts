/** Callbacks from a stream to a reader that wants the bytes of messages. */
export interface MessageReceiver {
  /** Receives one complete message, as UTF-8. */
  message(bytes: Buffer): void;
  /** Reports the end of the stream. Called exactly once, last. Without a cause, the other side closed it normally. */
  closed(cause?: Error): void;
}

/** Memory of a message in addition to its bytes. */
const MESSAGE_OVERHEAD_BYTES = 96;

interface QueueLimits {
  readonly queuedMessages: number;
  readonly queuedBytes: number;
}

/** Delivers messages in order to a reader that may start late, pause and resume. The end comes after the last message. */
export class MessageQueue {
  readonly #limits: QueueLimits;
  #receiver: MessageReceiver | undefined;
  readonly #messages: Buffer[] = [];
  #bytes = 0;
  #isPaused = false;
  #isScheduled = false;
  #end: { readonly cause: Error | undefined } | undefined;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get queuedBytes(): number {
    return this.#bytes;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  start(receiver: MessageReceiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  pause(): void {
    if (!this.#end) this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  /** Delivers or keeps a message. False if too much waits and `isBounded`; the message is dropped then. */
  push(message: Buffer, { isBounded }: { readonly isBounded: boolean }): boolean {
    if (this.#end) return true;
    if (this.#receiver && !this.#isPaused && !this.#isScheduled) {
      this.#receiver.message(message);
      return true;
    }
    const { queuedMessages, queuedBytes } = this.#limits;
    const isFirst = this.#messages.length === 0;
    if (
      isBounded &&
      !isFirst &&
      (this.#messages.length >= queuedMessages || this.#bytes + sizeOf(message) > queuedBytes)
    ) {
      return false;
    }
    this.#messages.push(message);
    this.#bytes += sizeOf(message);
    return true;
  }

  /**
   * Ends the queue. Messages that wait are delivered first, even to a paused reader, so that the end is reported without
   * delay; with `discard` they are dropped.
   */
  end(cause: Error | undefined, { discard }: { readonly discard: boolean }): void {
    if (this.#end) return;
    this.#end = { cause };
    this.#isPaused = false;
    if (discard) {
      this.#messages.length = 0;
      this.#bytes = 0;
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#receiver) return;
    if (this.#messages.length === 0 && !this.#end) return;
    this.#isScheduled = true;
    queueMicrotask(() => this.#drain());
  }

  /** Messages that arrive during the loop are appended, and delivered by it. */
  #drain(): void {
    let next = 0;
    while (!this.#isPaused && next < this.#messages.length) {
      const message = this.#messages[next++] as Buffer;
      this.#bytes -= sizeOf(message);
      this.#receiver?.message(message);
    }
    this.#messages.splice(0, next);
    this.#isScheduled = false;
    if (this.#end) {
      const receiver = this.#receiver;
      this.#receiver = undefined;
      receiver?.closed(this.#end.cause);
    }
  }
}

function sizeOf(message: Buffer): number {
  return message.length + MESSAGE_OVERHEAD_BYTES;
}
