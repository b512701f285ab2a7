import { NdjsonTransport, type Transport, type TransportReceiver } from "@codexkit/rpc";
import type { OwnedProcess } from "./owned-process.ts";

/** How long to wait for a child's exit after its connection has ended. Then the error lacks its exit code and stderr. */
const EXIT_WAIT_MS = 2_000;

/** A process whose exit explains the end of its connection. */
type Child = Pick<OwnedProcess, "endedWithin" | "describeEnd"> & {
  readonly child: Pick<OwnedProcess["child"], "stdin" | "stdout">;
};

/** A connection to a child over its pipes or over a socket. */
export class ChildTransport implements Transport {
  readonly #inner: Transport;
  readonly #process: Child;
  #isClosing = false;

  constructor(owned: Child, inner?: Transport) {
    this.#process = owned;
    this.#inner = inner ?? new NdjsonTransport({ input: owned.child.stdout, output: owned.child.stdin });
  }

  start(receiver: TransportReceiver): void {
    this.#inner.start({
      text: (message) => receiver.text(message),
      malformed: (error) => receiver.malformed(error),
      closed: (cause) => {
        if (this.#isClosing) receiver.closed(cause);
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
    this.#isClosing = true;
    return this.#inner.close();
  }

  /** A pipe breaks shortly before the exit code and the rest of stderr are known. */
  async #explain(cause: Error | undefined): Promise<Error> {
    const end = await this.#process.endedWithin(EXIT_WAIT_MS);
    const what = end ? this.#process.describeEnd(end) : "The child closed the connection but did not exit.";
    return new Error(what, { cause });
  }
}
