import { RequestFailure, RPC_CODES, UNANSWERED } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import type { Answer, OpenRequest } from "./open-request.ts";
import type { AnyResponse, RequestEvent, RequestOutcome } from "./request-events.ts";

/** What to send, or `UNANSWERED`: the server waits for no answer of this client any more. */
export type Settled = AnyResponse | typeof UNANSWERED;

/** A request that waits for its answer. Whatever comes first ends it; all that comes later finds it ended. */
export class PendingRequest {
  readonly request: OpenRequest;
  /** What to send, if anything. Rejects with a `RequestFailure` where the answer is an error. */
  readonly settled: Promise<Settled>;
  readonly #controller = new AbortController();
  readonly #emit: (event: RequestEvent) => void;
  readonly #resolve: (settled: Settled) => void;
  readonly #reject: (error: RequestFailure) => void;
  #ended = false;

  constructor(request: OpenRequest, emit: (event: RequestEvent) => void) {
    this.request = request;
    this.#emit = emit;
    const { promise, resolve, reject } = Promise.withResolvers<Settled>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Fires when it ends by anything but a handler's answer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** A handler answered. */
  answer({ response, shown = response, decision, reason }: Answer): void {
    if (this.#ended) return;
    this.#resolve(response);
    this.#end({
      by: "handler",
      response: shown,
      ...(decision !== undefined && { decision }),
      ...(reason !== undefined && { reason }),
    });
  }

  /** Nobody answered, or nobody validly: the denial of its kind is sent. */
  refuse(reason: string): void {
    if (this.#ended) return;
    const denial = this.#denial(reason);
    if (denial instanceof RequestFailure) {
      this.#reject(denial);
      this.#end({ by: "default", reason });
    } else {
      const { response, decision } = denial;
      this.#resolve(response);
      this.#end({ by: "default", response, ...(decision !== undefined && { decision }), reason });
    }
    this.#controller.abort(new CodexError("aborted", `The request was denied: ${reason}.`));
  }

  /** An answer would reach nobody. */
  withdraw(by: "otherClient" | "withdrawn", cause: Error): void {
    if (this.#ended) return;
    this.#resolve(UNANSWERED);
    this.#end({ by, reason: cause.message });
    this.#controller.abort(cause);
  }

  #denial(reason: string): Answer | RequestFailure {
    try {
      return this.request.refuse(reason);
    } catch (error) {
      return error instanceof RequestFailure ? error : new RequestFailure(RPC_CODES.internalError, reason);
    }
  }

  #end(outcome: RequestOutcome): void {
    this.#ended = true;
    const { requested } = this.request;
    if (!requested) return;
    const { threadId, turnId, itemId, requestId } = requested;
    const place = { threadId, turnId, requestId, ...(itemId !== undefined && { itemId }) };
    if (requested.type === "approval.requested") {
      this.#emit({ type: "approval.resolved", ...place, kind: requested.kind, outcome });
    } else {
      this.#emit({ type: "question.resolved", ...place, kind: requested.kind, outcome });
    }
  }
}
