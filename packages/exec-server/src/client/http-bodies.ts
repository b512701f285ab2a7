import { ExecError } from "../errors.ts";
import type { ExecNotices } from "../wire/exec-wire.ts";

/** Maximum number of unread bytes of all bodies together. Codex's number. */
const BUDGET_BYTES = 16 * 1024 * 1024;

interface Body {
  readonly pieces: Buffer[];
  nextSeq: number;
  end: { error: ExecError | undefined } | undefined;
  wake: (() => void) | undefined;
}

/** The streamed HTTP bodies of one client. */
export class HttpBodies {
  readonly #bodies = new Map<string, Body>();
  #bytes = 0;

  /** Registers an id before the request is sent, because pieces may follow the response immediately. */
  open(requestId: string): AsyncIterable<Buffer> & { cancel(): void } {
    const body: Body = { pieces: [], nextSeq: 1, end: undefined, wake: undefined };
    this.#bodies.set(requestId, body);
    return {
      cancel: () => this.#drop(requestId, body),
      [Symbol.asyncIterator]: () => this.#read(requestId, body),
    };
  }

  /** Receives a piece. Ignores pieces of bodies that are no longer read. */
  receive({ requestId, seq, deltaBase64, done, error }: ExecNotices["http/request/bodyDelta"]): void {
    const body = this.#bodies.get(requestId);
    if (!body || body.end) return;
    const bytes = Buffer.from(deltaBase64, "base64");
    if (seq !== body.nextSeq)
      return this.#end(body, new ExecError("protocol_violation", "A piece of a response body is missing."));
    body.nextSeq += 1;
    if (this.#bytes + bytes.length > BUDGET_BYTES) {
      return this.#end(
        body,
        new ExecError("limit", `More than ${BUDGET_BYTES} bytes of response bodies were not read.`),
      );
    }
    if (bytes.length > 0) body.pieces.push(bytes);
    this.#bytes += bytes.length;
    if (!done) body.wake?.();
    else this.#end(body, typeof error === "string" ? new ExecError("refused", error) : undefined);
  }

  /** Fails all bodies: a body does not survive its connection. */
  failAll(error: ExecError): void {
    for (const body of this.#bodies.values()) if (!body.end) this.#end(body, error);
  }

  #end(body: Body, error: ExecError | undefined): void {
    body.end = { error };
    body.wake?.();
  }

  #drop(requestId: string, body: Body): void {
    for (const piece of body.pieces.splice(0)) this.#bytes -= piece.length;
    if (this.#bodies.get(requestId) === body) this.#bodies.delete(requestId);
  }

  async *#read(requestId: string, body: Body): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        for (let piece = body.pieces.shift(); piece; piece = body.pieces.shift()) {
          this.#bytes -= piece.length;
          yield piece;
        }
        if (body.end?.error) throw body.end.error;
        if (body.end) return;
        await new Promise<void>((resolve) => {
          body.wake = resolve;
        });
        body.wake = undefined;
      }
    } finally {
      this.#drop(requestId, body);
    }
  }
}
