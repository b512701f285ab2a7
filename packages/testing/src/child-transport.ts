import { NdjsonTransport, type Transport, type TransportReceiver } from "@codexkit/rpc";
import type { OwnedProcess } from "./owned-process.ts";

/** How long a child whose output ended may take to be gone before the connection is given up without its last words. */
const LAST_WORDS_MS = 2_000;

/** Lines over a child's stdin and stdout. When the child dies, the cause says how, with the end of its stderr. */
export class ChildTransport implements Transport {
  readonly #lines: NdjsonTransport;
  readonly #process: OwnedProcess;

  constructor(owned: OwnedProcess) {
    this.#process = owned;
    this.#lines = new NdjsonTransport({ input: owned.child.stdout, output: owned.child.stdin });
  }

  start(receiver: TransportReceiver): void {
    this.#lines.start({
      text: (message) => receiver.text(message),
      malformed: (error) => receiver.malformed(error),
      closed: (cause) => void this.#explain(cause).then((why) => receiver.closed(why)),
    });
  }

  send(message: string): Promise<void> | undefined {
    return this.#lines.send(message);
  }

  close(): Promise<void> {
    return this.#lines.close();
  }

  /** A pipe breaks a moment before the exit code and the last words are known. */
  async #explain(cause: Error | undefined): Promise<Error> {
    const end = await this.#process.endedWithin(LAST_WORDS_MS);
    const what = end ? this.#process.describeEnd(end) : "The child closed its output but did not exit.";
    return new Error(what, { cause });
  }
}
