import { type RequestId, RequestFailure, RPC_CODES, UNANSWERED } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import type { HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import { RecentEnds } from "./recent-ends.ts";
import { requestLimits } from "./limits.ts";
import type { ItemLookup, OpenRequest, RunningItems } from "./open-request.ts";
import { PendingRequest, type Settled } from "./pending-request.ts";
import { readRequest } from "./read-request.ts";
import type { RequestEvent, RequestWarningEvent } from "./request-events.ts";
import { textOf } from "./text-of.ts";

export interface ServerRequestBrokerOptions {
  /** The handlers for a thread, those to ask first at the front; for `undefined`, those of the connection. */
  readonly handlersFor: (threadId: string | undefined) => readonly ServerRequestHandlers[];
  readonly emit: (event: RequestEvent) => void;
  /** Finds the item that an approval is about: a file change's diff is there, not in the request. */
  readonly itemFor?: ItemLookup;
  readonly itemsOf?: RunningItems;
  /** How long a handler may take, tools aside; then the answer is no. Without it, as long as it likes. */
  readonly approvalTimeoutMs?: number;
  /** The clock; tests pass their own. */
  readonly now?: () => number;
}

/** A request as it came over the wire. */
export interface IncomingRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params?: unknown;
}

/**
 * Everything that the server asks of this client, from the asking to the one answer. Each request is given to the first
 * handler that takes it, beside all others; it is denied when none does, and dropped when nobody waits for it any more.
 */
export class ServerRequestBroker {
  readonly #options: ServerRequestBrokerOptions;
  readonly #pending = new Map<RequestId, PendingRequest>();
  /** Requests that were answered, but not yet confirmed by the server. */
  readonly #answered = new Set<RequestId>();
  readonly #recentEnds = new RecentEnds();

  constructor(options: ServerRequestBrokerOptions) {
    this.#options = options;
  }

  /** The number of requests that wait for an answer. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Takes a request of the server. Resolves to its answer, or to `UNANSWERED` when none must be sent; rejects with a
   * `RequestFailure` when the answer is an error. The signal is the connection's.
   */
  async receive({ id, method, params }: IncomingRequest, signal: AbortSignal): Promise<Settled> {
    // A `thread/resume` repeats what the server still waits for: it has been asked, and is answered, once.
    if (this.#pending.has(id) || this.#answered.has(id)) return UNANSWERED;
    const request = this.#read(id, method, params);
    const { threadId, turnId, requested } = request;
    if (signal.aborted || this.#recentEnds.hasRequest(id) || this.#recentEnds.hasTurn(threadId, turnId)) {
      return UNANSWERED;
    }
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
      // By now the id may be another's, of the next connection.
      if (this.#pending.get(id) === pending) this.#pending.delete(id);
    }
  }

  /** The server said that a request is settled: by this client's answer, or by another's. */
  resolved({ requestId }: { readonly threadId?: string; readonly requestId: RequestId }): void {
    this.#answered.delete(requestId);
    this.#recentEnds.addRequest(requestId);
    this.#pending
      .get(requestId)
      ?.withdraw("otherClient", new CodexError("aborted", "Another client answered this request."));
  }

  /** A turn ended: what it asked is void. */
  turnEnded(threadId: string, turnId: string): void {
    this.#recentEnds.addTurn(threadId, turnId);
    this.#withdraw(
      ({ request }) => request.threadId === threadId && request.turnId === turnId,
      () => new CodexError("aborted", "The turn ended."),
    );
  }

  /** A thread is no longer this client's: what it asked is void here. */
  threadEnded(threadId: string): void {
    this.#withdraw(
      ({ request }) => request.threadId === threadId,
      () => new CodexError("aborted", "The thread was closed or left."),
    );
  }

  /** The connection ended. The server of the next one counts its requests anew. */
  connectionEnded(reason?: unknown): void {
    this.#withdraw(
      () => true,
      () => closedError(reason),
    );
    this.#answered.clear();
    this.#recentEnds.clear();
  }

  /** @param cause Made only where something is pending: every turn ends, few have asked anything. */
  #withdraw(which: (pending: PendingRequest) => boolean, cause: () => Error): void {
    for (const [id, pending] of this.#pending) {
      if (!which(pending)) continue;
      // At once, not when `receive` gets to it: the next connection may bring the same id.
      this.#pending.delete(id);
      pending.withdraw("withdrawn", cause());
    }
  }

  #read(requestId: RequestId, method: string, params: unknown): OpenRequest {
    const { itemFor = () => undefined, itemsOf = () => [], now = Date.now } = this.#options;
    let request: OpenRequest | undefined;
    let problem = "This client knows no such request";
    try {
      request = readRequest(method, params, { requestId, itemFor, itemsOf, now });
    } catch (error) {
      problem = `This client could not read the request: ${textOf(error)}`;
    }
    if (request) return request;
    this.#warn("unknown_request", placeOf(params), `${problem}: ${method} was refused.`);
    throw new RequestFailure(RPC_CODES.methodNotFound, `${problem}: ${method}`);
  }

  async #ask(requestId: RequestId, method: string, pending: PendingRequest): Promise<void> {
    const { request } = pending;
    const place = placeOf(request);
    const context: HandlerContext = {
      signal: pending.signal,
      requestId,
      threadId: place.threadId,
      turnId: place.turnId,
    };
    const { approvalTimeoutMs } = this.#options;
    const timer =
      request.timed && approvalTimeoutMs !== undefined
        ? setTimeout(() => {
            this.#fail(requestId, pending, `no handler of ${method} answered within ${approvalTimeoutMs} ms`);
          }, approvalTimeoutMs)
        : undefined;
    // A handler that never returns would keep the timer, and with it the process, for as long.
    pending.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    try {
      for (const handlers of this.#options.handlersFor(request.threadId)) {
        for (const ask of request.asks(handlers)) {
          if (!ask || pending.ended) continue;
          const answer = request.read(await ask(context));
          if (answer === "pass") continue;
          this.#remember(requestId, pending);
          pending.answer(answer);
        }
      }
      if (pending.ended) return;
      this.#remember(requestId, pending);
      if (request.unattended) {
        pending.answer(request.unattended());
        return;
      }
      this.#warn("unanswered_request", place, `No handler took ${method}: it was denied.`);
      pending.refuse(`no handler took ${method}`);
    } catch (error) {
      this.#fail(requestId, pending, `a handler of ${method} failed: ${textOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(requestId: RequestId, pending: PendingRequest, reason: string): void {
    if (pending.ended) return;
    this.#remember(requestId, pending);
    this.#warn("request_handler_failed", placeOf(pending.request), `Denied, because ${reason}.`);
    pending.refuse(reason);
  }

  /** Remembers what is about to be answered until the server confirms it: a repetition may be on its way. */
  #remember(requestId: RequestId, pending: PendingRequest): void {
    if (pending.ended) return;
    this.#answered.add(requestId);
    for (const oldest of this.#answered) {
      if (this.#answered.size <= requestLimits.rememberedAnswers) break;
      this.#answered.delete(oldest);
    }
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

/** The thread and turn of anything that may name them. */
function placeOf(value: unknown): { threadId: string | undefined; turnId: string | undefined } {
  const { threadId, turnId } = (value ?? {}) as { threadId?: unknown; turnId?: unknown };
  return {
    threadId: typeof threadId === "string" ? threadId : undefined,
    turnId: typeof turnId === "string" ? turnId : undefined,
  };
}

function closedError(reason: unknown): Error {
  return reason instanceof Error ? reason : new CodexError("closed", "The connection ended.");
}
