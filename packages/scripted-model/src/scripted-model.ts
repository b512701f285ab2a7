import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { ScriptedModelError } from "./errors.ts";
import type { NextId } from "./ids.ts";
import { idSequence } from "./ids.ts";
import { limits } from "./limits.ts";
import type { Reply } from "./part.ts";
import { playReply } from "./play-reply.ts";
import { readBody } from "./read-body.ts";
import { endJson, ReplyStream } from "./reply-stream.ts";
import type { WaitOptions } from "./request-log.ts";
import { RequestLog } from "./request-log.ts";
import type { ReplyEnd } from "./script-request.ts";
import { ScriptRequest } from "./script-request.ts";
import type { Script, ScriptFunction } from "./script.ts";
import { follow } from "./script.ts";
import { messageOf, orAbort } from "./until.ts";

export interface ScriptedModelOptions {
  /** The reply to every request that the script has none for. Without it such a request fails. */
  readonly fallback?: Reply | ScriptFunction;
  /** Put before the numbers of generated ids, for threads that outlive one model: `"b"` gives `call_b1`. */
  readonly idPrefix?: string;
  /** How many requests to keep for assertions; `limits.recordedRequests` unless told. */
  readonly keepRequests?: number;
  /** A fixed port; a free one unless told. */
  readonly port?: number;
}

/**
 * A stand-in for the model: a Responses endpoint on loopback that plays a script to the real Codex.
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
    this.#script = follow(script);
    this.#fallback = typeof fallback === "function" || fallback === undefined ? fallback : () => fallback;
    this.#nextId = idSequence(options.idPrefix ?? "");
    this.#log = new RequestLog(options.keepRequests ?? limits.recordedRequests);
    // No keep-alive limit: Codex reuses an idle connection at any time, and must not find it half closed.
    this.#server = createServer(
      { noDelay: true, keepAliveTimeout: 0, requestTimeout: 0 },
      (request, response) => {
        // Whatever goes wrong with one answer, the endpoint lives on.
        this.#answer(request, response).catch(() => response.destroy());
      },
    );
  }

  /** Opens the endpoint on 127.0.0.1. */
  static async start(script: Script, options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
    const model = new ScriptedModel(script, options);
    try {
      model.#server.listen(options.port ?? 0, "127.0.0.1");
      await once(model.#server, "listening");
    } catch (cause) {
      throw new ScriptedModelError("listen_failed", `The scripted model found no port: ${messageOf(cause)}`, {
        cause,
      });
    }
    return model;
  }

  /** The base URL for Codex's `base_url`. */
  get url(): string {
    const address = this.#server.address() as AddressInfo | null;
    if (!address) throw new ScriptedModelError("closed", "The scripted model is closed.");
    return `http://127.0.0.1:${address.port}/v1`;
  }

  /** The requests that came, oldest first; the newest ones only where more came than are kept. */
  get requests(): readonly ScriptRequest[] {
    return this.#log.kept;
  }

  /** How many requests came in all. */
  get requestCount(): number {
    return this.#log.count;
  }

  /** What went wrong on the script's side: a test's first look when Codex reports a failure it didn't expect. */
  get problems(): readonly ScriptedModelError[] {
    return this.#problems;
  }

  /** Plays another script from the next request on. */
  play(script: Script): void {
    this.#script = follow(script);
  }

  /** The oldest request that no call of this gave out yet; waits for it where needed. */
  async nextRequest(options: WaitOptions = {}): Promise<ScriptRequest> {
    return this.#log.next(options);
  }

  /** The first request that fits, among those that came and those to come. */
  async findRequest(
    test: (request: ScriptRequest) => boolean,
    options: WaitOptions = {},
  ): Promise<ScriptRequest> {
    return this.#log.find(test, options);
  }

  /** Waits until so many requests came in all, and gives those that are kept. */
  async waitForRequests(count: number, options: WaitOptions = {}): Promise<readonly ScriptRequest[]> {
    return this.#log.atLeast(count, options);
  }

  /** Ends every open stream and every wait, and frees the port. */
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
    let body: Record<string, unknown>;
    try {
      body = await readBody(incoming);
    } catch (error) {
      const message = messageOf(error);
      // What is left of the body is thrown away, so that the sender comes to read the answer.
      incoming.resume();
      const refusal = { error: { type: "invalid_request_error", code: "bad_request", message } };
      endJson(response, 400, refusal, { connection: "close" });
      return;
    }
    const { promise: ended, resolve: end } = Promise.withResolvers<ReplyEnd>();
    const request = new ScriptRequest(this.#received++, incoming.headers, body, ended);
    let how: ReplyEnd = "failed";
    try {
      how = await this.#perform(request, response);
    } finally {
      end(how);
    }
  }

  async #perform(request: ScriptRequest, response: ServerResponse): Promise<ReplyEnd> {
    const exchange = new AbortController();
    const { signal } = exchange;
    this.#open.add(exchange);
    response.on("close", () => {
      this.#open.delete(exchange);
      exchange.abort();
    });
    const stream = new ReplyStream(response, signal);
    try {
      // The script's place is taken before anyone who waits for this request can change the script.
      const reply = this.#replyTo(request);
      this.#log.add(request);
      const settled = reply instanceof Promise ? await orAbort(reply, signal) : reply;
      return await playReply(settled ?? (await this.#lastResort(request, signal)), {
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

  #replyTo(request: ScriptRequest): ReturnType<ScriptFunction> {
    try {
      return this.#script(request);
    } catch (error) {
      // Thrown again where a promise would throw: the request is recorded in either case.
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #lastResort(request: ScriptRequest, signal: AbortSignal): Promise<Reply> {
    const reply = this.#fallback && (await orAbort(Promise.resolve(this.#fallback(request)), signal));
    if (reply !== undefined) return reply;
    const said = JSON.stringify(request.lastUserText.slice(0, 80));
    throw new ScriptedModelError(
      "script_exhausted",
      `The script is exhausted: it has no reply for request ${request.index + 1} ` +
        `(model ${request.model}, last user text ${said}). Add a reply or a fallback.`,
    );
  }

  /** A fault of the script: kept for the test, and told to Codex in whatever way is still open. */
  async #report(error: unknown, stream: ReplyStream): Promise<void> {
    const problem =
      error instanceof ScriptedModelError
        ? error
        : new ScriptedModelError("script_failed", `The script failed: ${messageOf(error)}`, { cause: error });
    this.#problems.push(problem);
    if (this.#problems.length > limits.recordedProblems) this.#problems.shift();
    if (stream.begun) {
      await stream.cut();
      return;
    }
    const { code, message } = problem;
    // Not a 500: Codex would try that again and again, and hide the message. A 400 ends the turn with these words.
    stream.endWith(400, {}, { error: { type: "scripted_model", code, message } });
  }
}
