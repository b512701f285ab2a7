import { once } from "node:events";
import type { ServerResponse } from "node:http";

import type { Json } from "./json.ts";
import { limits } from "./limits.ts";
import { orAbort } from "./until.ts";

/** The HTTP answer as a stream of text: gathers small writes, and waits when the reader is slow. */
export class ReplyStream {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #headers: Readonly<Record<string, string>> = {};
  #pending = "";
  /** Settles when the last write has left this process. */
  #left: Promise<void> = Promise.resolve();

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** Keeps the text for the next flush; true says that it is time for one. */
  push(text: string): boolean {
    this.#pending += text;
    return this.#pending.length >= limits.writeChars;
  }

  /** Sends what was gathered and waits until the reader has taken it, or hung up. */
  async flush(): Promise<void> {
    this.#signal.throwIfAborted();
    if (!this.#write()) await once(this.#response, "drain", { signal: this.#signal });
  }

  /** Sends what was gathered and ends the answer. */
  end(): void {
    this.#signal.throwIfAborted();
    this.#response.end(this.#take());
  }

  /** Answers with a status and a JSON body instead of a stream. */
  endWith(status: number, headers: Readonly<Record<string, string>>, body: Json): void {
    this.#signal.throwIfAborted();
    endJson(this.#response, status, body, { ...this.#headers, ...headers });
  }

  /** Sends what was gathered, and once it has left, destroys the connection. */
  async cut(): Promise<void> {
    this.#write();
    await orAbort(this.#left, this.#signal);
    this.#response.destroy();
  }

  /** Whether the answer has begun, so that no other status can be sent. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** False when the reader is behind. */
  #write(): boolean {
    const text = this.#take();
    if (text === "") return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#left = promise;
    return this.#response.write(text, () => resolve());
  }

  #take(): string {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "" && !this.#response.headersSent)
      this.#response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
        ...this.#headers,
      });
    return text;
  }
}

/** Answers with a JSON body. */
export function endJson(
  response: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}
