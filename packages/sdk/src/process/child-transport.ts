import { NdjsonTransport, type Transport, type TransportReceiver } from "@codexkit/rpc";
import type { OwnedProcess } from "./owned-process.ts";

/** How long a child whose connection ended may take to be gone before it is given up without its last words. */
const LAST_WORDS_MS = 2_000;

/** A process whose end explains the end of its connection. */
type Child = Pick<OwnedProcess, "endedWithin" | "describeEnd"> & {
  readonly child: Pick<OwnedProcess["child"], "stdin" | "stdout">;
};

/** A connection to a child: lines over its pipes, or a socket that it listens on. */
export class ChildTransport implements Transport {
  readonly #inner: Transport;
  readonly #process: Child;
  #closing = false;

  constructor(owned: Child, inner?: Transport) {
    this.#process = owned;
    this.#inner = inner ?? new NdjsonTransport({ input: owned.child.stdout, output: owned.child.stdin });
  }

  start(receiver: TransportReceiver): void {
    this.#inner.start({
      text: (message) => receiver.text(message),
      malformed: (error) => receiver.malformed(error),
      closed: (cause) => {
        if (this.#closing) receiver.closed(cause);
        else void this.#explain(cause).then((why) => receiver.closed(why));
      },
    });
  }

  pause(): void {
    this.#inner.pause?.();
  }

  resume(): void {
    this.#inner.resume?.();
  }

  send(message: string): Promise<void> | undefined {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    this.#closing = true;
    return this.#inner.close();
  }

  /** A pipe breaks a moment before the exit code and the last words are known. */
  async #explain(cause: Error | undefined): Promise<Error> {
    const end = await this.#process.endedWithin(LAST_WORDS_MS);
    const what = end ? this.#process.describeEnd(end) : "The child closed the connection but did not exit.";
    return new Error(what, { cause });
  }
}
