import { type RequestId, RequestFailure, RPC_CODES, UNANSWERED } from "@codexkit/rpc";
import { BoundedMap, BoundedSet } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import type { describeThrown } from "./describe-thrown.ts";
import type { HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import { RecentEnds } from "./recent-ends.ts";
import type { ItemLookup, OpenRequest, RunningItems } from "./open-request.ts";
import { PendingRequest, type Settled } from "./pending-request.ts";
import type { parseRequest } from "./parse-request.ts";
import type { RequestEvent, RequestWarningEvent } from "./request-events.ts";

/**
 * Number of answered requests to remember. The server confirms most within milliseconds, but never confirms tool calls. Far
 * fewer are ever in flight at once.
 */
const REMEMBERED_ANSWERS = 256;

/** Number of threads whose claimed calls are kept. Far fewer ever have a running turn on one connection. */
const CLAIMING_THREADS = 10_000;

export interface ServerRequestBrokerOptions {
  /** Handlers for a thread, in the order to ask them. For `undefined`, those of the connection. */
  readonly handlersFor: (threadId: string | undefined) => readonly ServerRequestHandlers[];
  readonly emit: (event: RequestEvent) => void;
  /** Finds the item of an approval. It has the diff of a file change, which the request lacks. */
  readonly itemFor?: ItemLookup;
  readonly itemsOf?: RunningItems;
  /** Time limit of handlers other than tools; then the request is denied. Default: no limit. */
  readonly approvalTimeoutMs?: number;
  /** The clock. Tests pass their own. */
  readonly now?: () => number;
}

/** A request as received. */
export interface IncomingRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params?: unknown;
}

/**
 * Answers the requests of the server, each exactly once. A request goes to the first handler that accepts it,
 * concurrently with all others. It is denied if none does, and dropped when the server no longer waits for it.
 */
export class ServerRequestBroker {
  readonly #options: ServerRequestBrokerOptions;
  /** Loaded with the first request: few programs get one, and the schemas take longer to load than the rest of the SDK. */
  #parsers: RequestParsers | undefined;
  /** Requests that wait for the parsers. */
  readonly #arriving = new Map<RequestId, RequestIds>();
  readonly #pending = new Map<RequestId, PendingRequest>();
  /** Answered requests that the server has not confirmed yet. */
  readonly #answered = new BoundedSet<RequestId>(REMEMBERED_ANSWERS);
  readonly #recentEnds = new RecentEnds();
  /** Per thread, the MCP tool calls of the running turn whose approval was requested. */
  readonly #claimedCalls = new BoundedMap<string, Set<string>>(CLAIMING_THREADS);

  constructor(options: ServerRequestBrokerOptions) {
    this.#options = options;
  }

  /** Number of unanswered requests. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Handles a server request. Resolves to its response, or to `UNANSWERED` if none must be sent; rejects with a
   * `RequestFailure` if the response is an error. The signal is the connection's.
   */
  async receive({ id, method, params }: IncomingRequest, signal: AbortSignal): Promise<Settled> {
    // After a `thread/resume` the server repeats its pending requests. Each is presented and answered once.
    if (this.#arriving.has(id) || this.#pending.has(id) || this.#answered.has(id)) return UNANSWERED;
    const ids = idsOf(params);
    if (this.#recentEnds.hasRequest(id) || this.#recentEnds.hasTurn(ids)) return UNANSWERED;
    if (!this.#parsers && (await this.#loadParsers(id, ids)) === "ended") return UNANSWERED;
    if (signal.aborted) return UNANSWERED;
    const request = this.#parse(id, method, params);
    const { requested } = request;
    const pending = new PendingRequest(request, this.#options.emit);
    this.#pending.set(id, pending);
    const onAbort = (): void => pending.withdraw("withdrawn", closedError(signal.reason));
    signal.addEventListener("abort", onAbort, { once: true });
    if (requested) this.#options.emit(requested);
    void this.#ask(id, method, pending);
    try {
      return await pending.settled;
    } finally {
      signal.removeEventListener("abort", onAbort);
      // The ID may already belong to a request of the next connection.
      if (this.#pending.get(id) === pending) this.#pending.delete(id);
    }
  }

  /** Reports whether the request ended meanwhile. */
  async #loadParsers(id: RequestId, ids: RequestIds): Promise<"loaded" | "ended"> {
    this.#arriving.set(id, ids);
    const [{ parseRequest }, { describeThrown }] = await Promise.all([
      import("./parse-request.ts"),
      import("./describe-thrown.ts"),
    ]);
    this.#parsers = { parseRequest, describeThrown };
    // The ID may already belong to a request of the next connection.
    if (this.#arriving.get(id) !== ids) return "ended";
    this.#arriving.delete(id);
    return "loaded";
  }

  /** Reports that the server considers a request settled, by an answer of this client or of another. */
  resolved({ requestId }: { readonly threadId?: string; readonly requestId: RequestId }): void {
    this.#arriving.delete(requestId);
    this.#answered.delete(requestId);
    this.#recentEnds.addRequest(requestId);
    this.#pending
      .get(requestId)
      ?.withdraw("otherClient", new CodexError("aborted", "Another client answered this request."));
  }

  /** Withdraws the requests of an ended turn. */
  turnEnded(threadId: string, turnId: string): void {
    this.#recentEnds.addTurn(threadId, turnId);
    this.#claimedCalls.delete(threadId);
    this.#withdraw(
      (request) => request.threadId === threadId && request.turnId === turnId,
      () => new CodexError("aborted", "The turn ended."),
    );
  }

  /** Withdraws the requests of a thread that this client has closed. */
  threadEnded(threadId: string): void {
    this.#withdraw(
      (request) => request.threadId === threadId,
      () => new CodexError("aborted", "The thread was closed."),
    );
  }

  /** Withdraws all requests. The server numbers the requests of the next connection from the start. */
  connectionEnded(reason?: unknown): void {
    this.#withdraw(
      () => true,
      () => closedError(reason),
    );
    this.#answered.clear();
    this.#claimedCalls.clear();
    this.#recentEnds.clear();
  }

  /** @param cause Called only if a request is pending: every turn ends, few have pending requests. */
  #withdraw(which: (ids: RequestIds) => boolean, cause: () => Error): void {
    for (const [id, ids] of this.#arriving) if (which(ids)) this.#arriving.delete(id);
    for (const [id, pending] of this.#pending) {
      if (!which(pending.request)) continue;
      // Removed here and not in `receive`, because the next connection may reuse the ID at once.
      this.#pending.delete(id);
      pending.withdraw("withdrawn", cause());
    }
  }

  #parse(requestId: RequestId, method: string, params: unknown): OpenRequest {
    const { itemFor = () => undefined, itemsOf = () => [], now = Date.now } = this.#options;
    let request: OpenRequest | undefined;
    let problem = "This client does not know the request";
    try {
      const claimCall = (threadId: string, itemId: string): boolean => this.#claimCall(threadId, itemId);
      request = this.#parsers?.parseRequest(method, params, { requestId, itemFor, itemsOf, claimCall, now });
    } catch (error) {
      problem = `This client could not read the request: ${this.#parsers?.describeThrown(error)}`;
    }
    if (request) return request;
    this.#warn("unknown_request", idsOf(params), `${problem}: ${method} was denied.`);
    throw new RequestFailure(RPC_CODES.methodNotFound, `${problem}: ${method}`);
  }

  #claimCall(threadId: string, itemId: string): boolean {
    const claimed = this.#claimedCalls.get(threadId) ?? new Set();
    if (claimed.has(itemId)) return false;
    this.#claimedCalls.set(threadId, claimed.add(itemId));
    return true;
  }

  async #ask(requestId: RequestId, method: string, pending: PendingRequest): Promise<void> {
    const { request } = pending;
    const ids = idsOf(request);
    const context: HandlerContext = {
      signal: pending.signal,
      requestId,
      threadId: ids.threadId,
      turnId: ids.turnId,
    };
    const { approvalTimeoutMs } = this.#options;
    const timer =
      request.timed && approvalTimeoutMs !== undefined
        ? setTimeout(() => {
            this.#fail(requestId, pending, `no handler of ${method} answered within ${approvalTimeoutMs} ms`);
          }, approvalTimeoutMs)
        : undefined;
    // A handler that never returns must not keep the timer, and with it the process, alive.
    pending.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    try {
      for (const handlers of this.#options.handlersFor(request.threadId)) {
        for (const ask of request.asks(handlers)) {
          if (!ask || pending.hasEnded) continue;
          const answer = request.parse(await ask(context));
          if (answer === "pass") continue;
          this.#remember(requestId, pending);
          pending.answer(answer);
        }
      }
      if (pending.hasEnded) return;
      this.#remember(requestId, pending);
      if (request.unattended) {
        pending.answer(request.unattended());
        return;
      }
      this.#warn("unanswered_request", ids, `${method} was denied, because no handler answered it.`);
      pending.refuse(`no handler answered ${method}`);
    } catch (error) {
      this.#fail(
        requestId,
        pending,
        `a handler of ${method} failed: ${this.#parsers?.describeThrown(error)}`,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(requestId: RequestId, pending: PendingRequest, reason: string): void {
    if (pending.hasEnded) return;
    this.#remember(requestId, pending);
    this.#warn("request_handler_failed", idsOf(pending.request), `Denied, because ${reason}.`);
    pending.refuse(reason);
  }

  /** Remembers an answered request until the server confirms it, because a repetition may be in flight. */
  #remember(requestId: RequestId, pending: PendingRequest): void {
    if (pending.hasEnded) return;
    this.#answered.add(requestId);
  }

  #warn(
    kind: RequestWarningEvent["kind"],
    { threadId, turnId }: { threadId: string | undefined; turnId: string | undefined },
    message: string,
  ): void {
    this.#options.emit({
      type: "warning",
      kind,
      ...(threadId !== undefined && { threadId }),
      ...(turnId !== undefined && { turnId }),
      message,
    });
  }
}

/** The modules that are loaded with the first request. */
interface RequestParsers {
  readonly parseRequest: typeof parseRequest;
  readonly describeThrown: typeof describeThrown;
}

/** What a request belongs to. */
interface RequestIds {
  readonly threadId?: string | undefined;
  readonly turnId?: string | null | undefined;
}

/** The thread and turn IDs of a value, if it has them. */
function idsOf(value: unknown): { threadId: string | undefined; turnId: string | undefined } {
  const { threadId, turnId } = (value ?? {}) as Record<string, unknown>;
  return {
    threadId: typeof threadId === "string" ? threadId : undefined,
    turnId: typeof turnId === "string" ? turnId : undefined,
  };
}

function closedError(reason: unknown): Error {
  return reason instanceof Error ? reason : new CodexError("closed", "The connection ended.");
}
