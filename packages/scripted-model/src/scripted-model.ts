import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { ScriptedModelError } from "./errors.ts";
import type { NextId } from "./ids.ts";
import { idSequence } from "./ids.ts";
import { SCRIPTED_MODEL_LIMITS } from "./limits.ts";
import type { Reply } from "./part.ts";
import { playReply } from "./play-reply.ts";
import { readBody, type RequestBody } from "./read-body.ts";
import { endJson, ReplyStream } from "./reply-stream.ts";
import type { WaitOptions } from "./request-log.ts";
import { RequestLog } from "./request-log.ts";
import type { ReplyEnd } from "./script-request.ts";
import { ScriptRequest } from "./script-request.ts";
import type { Script, ScriptFunction } from "./script.ts";
import { toScriptFunction } from "./script.ts";
import { messageOf, raceAbort } from "./race-abort.ts";

export interface ScriptedModelOptions {
  /** Reply for requests for which the script has none. Without it, such requests fail. */
  readonly fallback?: Reply | ScriptFunction;
  /** Prefix for the numbers in generated ids, for threads that outlive a model. `"b"` generates `call_b1`. */
  readonly idPrefix?: string;
  /** Number of requests kept for assertions. Default: `SCRIPTED_MODEL_LIMITS.recordedRequests`. */
  readonly keepRequests?: number;
  /** Total size of the kept requests' bodies in bytes. Default: `SCRIPTED_MODEL_LIMITS.recordedBytes`. */
  readonly keepBytes?: number;
  /** Default: a free port. */
  readonly port?: number;
}

/**
 * A local replacement for the model: a Responses API endpoint on loopback that plays a script to the real Codex.
 *
 * @example
 * await using model = await ScriptedModel.start([run("ls"), say("Two files.")]);
 */
export class ScriptedModel implements AsyncDisposable {
  readonly #server: Server;
  readonly #log: RequestLog;
  readonly #nextId: NextId;
  readonly #fallback: ScriptFunction | undefined;
  readonly #open = new Set<AbortController>();
  readonly #problems: ScriptedModelError[] = [];
  #script: ScriptFunction;
  #received = 0;
  #closed: Promise<void> | undefined;

  private constructor(script: Script, options: ScriptedModelOptions) {
    const { fallback } = options;
    this.#script = toScriptFunction(script);
    this.#fallback = typeof fallback === "function" || fallback === undefined ? fallback : () => fallback;
    this.#nextId = idSequence(options.idPrefix ?? "");
    this.#log = new RequestLog({
      requests: options.keepRequests ?? SCRIPTED_MODEL_LIMITS.recordedRequests,
      bytes: options.keepBytes ?? SCRIPTED_MODEL_LIMITS.recordedBytes,
    });
    // No keep-alive timeout, because Codex can reuse an idle connection at any time and must not find it half closed.
    this.#server = createServer(
      { noDelay: true, keepAliveTimeout: 0, requestTimeout: 0 },
      (request, response) => {
        // A failed response must not stop the endpoint.
        this.#answer(request, response).catch(() => response.destroy());
      },
    );
    // Codex's own provider first tries a WebSocket. After this status it uses HTTP immediately; after any other it retries.
    this.#server.on("upgrade", (_request, socket) => {
      socket.end("HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    });
  }

  /** Opens the endpoint on 127.0.0.1. */
  static async start(script: Script, options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
    const model = new ScriptedModel(script, options);
    try {
      model.#server.listen(options.port ?? 0, "127.0.0.1");
      await once(model.#server, "listening");
    } catch (cause) {
      throw new ScriptedModelError(
        "listen_failed",
        `The scripted model could not open a port: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
    return model;
  }

  /** The base URL for Codex's `base_url`. */
  get url(): string {
    const address = this.#server.address() as AddressInfo | null;
    if (!address) throw new ScriptedModelError("closed", "The scripted model is closed.");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  /** The received requests, oldest first. Limited to the newest `keepRequests` and `keepBytes`. */
  get requests(): readonly ScriptRequest[] {
    return this.#log.kept;
  }

  /** Total number of received requests. */
  get requestCount(): number {
    return this.#log.count;
  }

  /** The script's errors. Check these first if Codex reports an unexpected failure. */
  get problems(): readonly ScriptedModelError[] {
    return this.#problems;
  }

  /** Plays another script from the next request on. */
  play(script: Script): void {
    this.#script = toScriptFunction(script);
  }

  /** Returns the oldest request that this method has not returned yet. Waits for it if necessary. */
  async nextRequest(options: WaitOptions = {}): Promise<ScriptRequest> {
    return this.#log.next(options);
  }

  /** Returns the first matching request, among received and future ones. */
  async findRequest(
    test: (request: ScriptRequest) => boolean,
    options: WaitOptions = {},
  ): Promise<ScriptRequest> {
    return this.#log.find(test, options);
  }

  /** Waits until `count` requests have been received in total, and returns the kept ones. */
  async waitForRequests(count: number, options: WaitOptions = {}): Promise<readonly ScriptRequest[]> {
    return this.#log.atLeast(count, options);
  }

  /** Ends all open streams and waits, and closes the port. */
  async close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    for (const exchange of this.#open) exchange.abort();
    this.#log.close();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url?.split("?", 1)[0];
    if (incoming.method !== "POST" || path !== "/v1/responses") {
      const message = `The scripted model only answers POST /v1/responses, not ${incoming.method} ${path}.`;
      incoming.resume();
      endJson(response, 404, { error: { type: "not_found", code: "not_found", message } });
      return;
    }
    let body: RequestBody;
    try {
      body = await readBody(incoming);
    } catch (error) {
      const message = messageOf(error);
      // Discards the rest of the body, so that the client reads the response.
      incoming.resume();
      const refusal = { error: { type: "invalid_request_error", code: "bad_request", message } };
      endJson(response, 400, refusal, { connection: "close" });
      return;
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<ReplyEnd>();
    const request = new ScriptRequest(this.#received++, incoming.headers, body, ended);
    let replyEnd: ReplyEnd = "failed";
    try {
      replyEnd = await this.#reply(request, response);
    } finally {
      end(replyEnd);
    }
  }

  async #reply(request: ScriptRequest, response: ServerResponse): Promise<ReplyEnd> {
    const exchange = new AbortController();
    const { signal } = exchange;
    this.#open.add(exchange);
    response.on("close", () => {
      this.#open.delete(exchange);
      exchange.abort();
    });
    const stream = new ReplyStream(response, signal);
    try {
      // Run the script before publishing the request, because a waiting test may then change the script.
      const reply = this.#runScript(request);
      this.#log.add(request);
      const settled = reply instanceof Promise ? await raceAbort(reply, signal) : reply;
      return await playReply(settled ?? (await this.#runFallback(request, signal)), {
        request,
        stream,
        nextId: this.#nextId,
        signal,
      });
    } catch (error) {
      if (signal.aborted) return this.#closed ? "closed" : "abandoned";
      await this.#report(error, stream);
      return "failed";
    }
  }

  #runScript(request: ScriptRequest): ReturnType<ScriptFunction> {
    try {
      return this.#script(request);
    } catch (error) {
      // Returned as a rejection, because the request must be recorded first.
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #runFallback(request: ScriptRequest, signal: AbortSignal): Promise<Reply> {
    const reply = this.#fallback && (await raceAbort(Promise.resolve(this.#fallback(request)), signal));
    if (reply !== undefined) return reply;
    const lastText = JSON.stringify(request.lastUserText.slice(0, 80));
    throw new ScriptedModelError(
      "script_exhausted",
      `The script is exhausted: it has no reply for request ${request.index + 1} ` +
        `(model ${request.model}, last user text ${lastText}). Add a reply or a fallback.`,
    );
  }

  /** Records a script error. Reports it to Codex if the response has not started. */
  async #report(error: unknown, stream: ReplyStream): Promise<void> {
    const problem =
      error instanceof ScriptedModelError
        ? error
        : new ScriptedModelError("script_failed", `The script failed: ${messageOf(error)}`, { cause: error });
    this.#problems.push(problem);
    if (this.#problems.length > SCRIPTED_MODEL_LIMITS.recordedProblems) this.#problems.shift();
    if (stream.hasStarted) {
      await stream.cut();
      return;
    }
    const { code, message } = problem;
    // A 400 ends the turn with the message. Codex would retry a 500 without showing the message.
    stream.endWith(400, {}, { error: { type: "scripted_model", code, message } });
  }
}
