import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import { proxy } from "hono/proxy";
import { timerDelay } from "@codexkit/rpc/async";
import type { Problem } from "../../api/problem.ts";
import type { Identity } from "../../api/token.ts";
import type { Database } from "../../database.ts";
import { DaemonError } from "../../errors.ts";
import type { ForwardTokens } from "../../fleet/forward-token.ts";
import type { FleetLimits } from "../../fleet/limits.ts";
import { nodeUnavailable } from "../../fleet/locate-session.ts";
import type { FleetNode } from "../../fleet-store/node-directory.ts";
import { parseNodeUrl } from "../../fleet/node-url.ts";
import type { HttpLimits } from "../../limits.ts";
import type { Runner } from "../../sessions/runner.ts";
import type { Metrics } from "../metrics.ts";
import { describeRequest, FORWARD_HEADER } from "./forwarded.ts";
import { forwardBody } from "./response-body.ts";

/**
 * Request headers that handlers read. All others are dropped: credentials, which the token of the forwarded request
 * replaces; headers that have already been checked here, such as the origin; and headers about the connection.
 */
const REQUEST_HEADERS = [
  "accept",
  "content-length",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-none-match",
  "if-range",
  "last-event-id",
  "range",
];

/** Response headers that handlers send. */
const RESPONSE_HEADERS = [
  "accept-ranges",
  "allow",
  "cache-control",
  "content-disposition",
  "content-length",
  "content-range",
  "content-security-policy",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "x-accel-buffering",
  "x-content-type-options",
];

/** Maximum size of a problem's body, because it is read into memory. */
const PROBLEM_BYTES = 64 * 1024;

/** Problems with which a node rejects the forwarding itself. They are not caused by the client's request. */
const REFUSALS: ReadonlySet<unknown> = new Set(["unauthorized", "host_not_allowed", "origin_not_allowed"]);

export interface OwnerProxyOptions {
  readonly database: Database;
  readonly runner: Pick<Runner, "status">;
  readonly metrics: Pick<Metrics, "proxiedRequests">;
  readonly tokens: ForwardTokens;
  readonly limits: HttpLimits;
  readonly fleetLimits: Pick<FleetLimits, "proxyTimeoutMs">;
  /** Aborts when the daemon closes. */
  readonly closing: AbortSignal;
}

export interface ForwardedCall {
  readonly context: Context;
  /** Key of the route, such as `GET /sessions/{sessionId}`. */
  readonly key: string;
  readonly identity: Identity;
  /** The parsed JSON body. If undefined, the body is streamed unchanged. */
  readonly body?: unknown;
  /** How long the target may wait for the outcome of a command. */
  readonly waitMs?: number;
}

/** The URL of a forwarded call, and the header with the token that identifies its sender. */
export interface ForwardTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Forwards requests to the node that has the files and processes of a session. */
export class OwnerProxy {
  readonly #options: OwnerProxyOptions;
  #open = 0;

  constructor(options: OwnerProxyOptions) {
    this.#options = options;
  }

  /** Counts a forwarded request until the returned function is called. Throws `too_many_connections` at the limit. */
  open(): () => void {
    const { forwardedRequests } = this.#options.limits;
    if (this.#open >= forwardedRequests) {
      throw new DaemonError(
        "too_many_connections",
        `This node is already forwarding ${forwardedRequests} requests to other nodes. Try again later.`,
        { details: { retryAfter: 5 } },
      );
    }
    this.#open += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#open -= 1;
      isOpen = false;
    };
  }

  /**
   * Creates the target of a call. Rejects with `node_unavailable` if the node has no usable URL, or if this node has lost its
   * lease.
   */
  async target(node: FleetNode, { context, key, identity }: ForwardedCall): Promise<ForwardTarget> {
    const { runner, tokens } = this.#options;
    const { nodeId: from } = runner.status;
    const origin = parseNodeUrl(node.url);
    if (!origin) {
      this.count("unavailable");
      throw nodeUnavailable(
        node.name,
        node.url === null
          ? "It has no URL, so requests can't be forwarded to it. Start it with advertiseUrl, or send the request to it directly."
          : "Its URL is invalid. Its advertiseUrl must be an origin such as https://node-1:4100.",
      );
    }
    if (from === null)
      throw nodeUnavailable(
        node.name,
        "The node that received the request has just lost its lease. Try again later.",
      );
    const request = describeRequest(context, key);
    const token = await tokens.sign(request, { from, to: node.id, identity });
    return { url: new URL(request.path, origin), headers: { [FORWARD_HEADER]: token } };
  }

  /** Forwards a call and returns the node's response. Its body is streamed. */
  async forward(node: FleetNode, call: ForwardedCall): Promise<Response> {
    const close = this.open();
    try {
      return await this.#send(node, call, close);
    } catch (error) {
      close();
      throw error;
    }
  }

  count(outcome: "ok" | "refused" | "unavailable" | "aborted"): void {
    this.#options.metrics.proxiedRequests.inc({ outcome });
  }

  async #send(node: FleetNode, call: ForwardedCall, close: () => void): Promise<Response> {
    const { limits, fleetLimits, closing } = this.#options;
    const { raw } = call.context.req;
    const target = await this.target(node, call);
    const timeout = new Timeout(fleetLimits.proxyTimeoutMs + (call.waitMs ?? 0));
    const abort = new AbortController();
    const signal = AbortSignal.any([raw.signal, timeout.signal, abort.signal]);
    let response: Response;
    try {
      response = await proxy(target.url, {
        method: raw.method,
        ...contentOf(call, timeout),
        headers: { ...headersOf(call), ...target.headers },
        redirect: "manual",
        signal,
      });
    } catch (error) {
      if (raw.signal.aborted) {
        this.count("aborted");
        throw error;
      }
      this.count("unavailable");
      throw nodeUnavailable(
        node.name,
        timeout.signal.aborted ? "It did not respond in time." : "It can't be reached.",
      );
    } finally {
      timeout.stop();
    }
    const { headers } = await this.receive(node, response).catch((error: unknown) => {
      abort.abort();
      throw error;
    });
    const init = { status: response.status, headers };
    if (!response.body || raw.method === "HEAD") {
      await response.body?.cancel();
      close();
      return new Response(null, init);
    }
    const isStream = headers["content-type"] === "text/event-stream";
    const body = forwardBody(response.body, {
      // An idle stream only sends heartbeats.
      idleMs: Math.max(fleetLimits.proxyTimeoutMs, 3 * limits.heartbeatMs),
      end: isStream ? closing : undefined,
      onEnd: () => {
        close();
        abort.abort();
      },
      destroyConnection: () => destroyConnection(call.context),
    });
    return new Response(body, init);
  }

  /** Returns the response headers for the client. Rejects with `node_unavailable` if the node rejected the forwarding. */
  async receive(
    { name }: FleetNode,
    response: Response,
  ): Promise<{ readonly headers: Readonly<Record<string, string>> }> {
    const { status } = response;
    const isRedirect = status >= 300 && status < 400 && status !== 304;
    const isProblem = response.headers.get("content-type") === "application/problem+json";
    const isRefused =
      isRedirect ||
      ((status === 401 || status === 403 || status === 421) &&
        (!isProblem || REFUSALS.has((await peekProblem(response))?.type)));
    this.count(isRefused ? "refused" : "ok");
    if (isRefused)
      throw nodeUnavailable(
        name,
        "It rejected the forwarded request. Check that its advertiseUrl is one of its allowed hosts, and that both nodes use the same store.",
      );
    return { headers: pick(response.headers, RESPONSE_HEADERS) };
  }
}

/**
 * Destroys the connection of the response, which is available with Node's HTTP server. Returns whether it was
 * destroyed.
 */
function destroyConnection({ env }: Context): boolean {
  const { outgoing } = (env ?? {}) as { outgoing?: ServerResponse };
  outgoing?.destroy();
  return outgoing !== undefined;
}

function pick(headers: Headers, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

function headersOf({ context, body }: ForwardedCall): Record<string, string> {
  const headers = pick(context.req.raw.headers, REQUEST_HEADERS);
  if (body === undefined) return headers;
  const { "content-length": _, ...rest } = headers;
  return { ...rest, "content-type": "application/json" };
}

function contentOf({ body, context }: ForwardedCall, timeout: Timeout): RequestInit {
  const { raw } = context.req;
  if (raw.method === "GET" || raw.method === "HEAD") return {};
  if (body !== undefined) return { body: JSON.stringify(body) };
  if (!raw.body) return {};
  // While the client is still sending, the node can't be expected to respond.
  const counted = raw.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        timeout.restart();
        controller.enqueue(chunk);
      },
    }),
  );
  return { body: counted, duplex: "half" };
}

async function peekProblem(response: Response): Promise<Problem | undefined> {
  const length = Number(response.headers.get("content-length") ?? Infinity);
  if (length > PROBLEM_BYTES) return undefined;
  return (await response
    .clone()
    .json()
    .catch(() => undefined)) as Problem | undefined;
}

/** A timeout that can be restarted. Aborts its signal when it elapses. */
class Timeout {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#ms = timerDelay(ms);
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(), this.#ms);
  }
}
