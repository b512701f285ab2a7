import { once } from "node:events";
import type { ServerResponse } from "node:http";

import type { Json } from "./json.ts";
import { SCRIPTED_MODEL_LIMITS } from "./limits.ts";
import { raceAbort } from "./race-abort.ts";

/** The HTTP response as a stream of text. Buffers small writes and waits for a slow reader. */
export class ReplyStream {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #headers: Readonly<Record<string, string>> = {};
  #pending = "";
  /** Settles when the last write has been flushed to the socket. */
  #written: Promise<void> = Promise.resolve();

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers };
  }

  /** Buffers text for the next flush. Returns true if the buffer is full. */
  push(text: string): boolean {
    this.#pending += text;
    return this.#pending.length >= SCRIPTED_MODEL_LIMITS.writeCharacters;
  }

  /** Sends the buffered text and waits until the reader has received it or disconnected. */
  async flush(): Promise<void> {
    this.#signal.throwIfAborted();
    if (!this.#write()) await once(this.#response, "drain", { signal: this.#signal });
  }

  /** Sends the buffered text and ends the response. */
  end(): void {
    this.#signal.throwIfAborted();
    this.#response.end(this.#take());
  }

  /** Responds with a status and a JSON body instead of a stream. */
  endWith(status: number, headers: Readonly<Record<string, string>>, body: Json): void {
    this.#signal.throwIfAborted();
    endJson(this.#response, status, body, { ...this.#headers, ...headers });
  }

  /** Sends the buffered text, then destroys the connection. */
  async cut(): Promise<void> {
    this.#write();
    await raceAbort(this.#written, this.#signal);
    this.#response.destroy();
  }

  /** Whether the status has been sent. */
  get hasStarted(): boolean {
    return this.#response.headersSent;
  }

  /** Returns false if the reader is slow. */
  #write(): boolean {
    const text = this.#take();
    if (text === "") return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#written = promise;
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

/** Responds with a JSON body. */
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
