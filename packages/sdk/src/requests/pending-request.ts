import { RequestFailure, RPC_CODES, UNANSWERED } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import type { Answer, OpenRequest } from "./open-request.ts";
import type { AnyResponse, RequestEvent, RequestOutcome } from "./request-events.ts";

/** The response, or `UNANSWERED` if the server no longer waits for one from this client. */
export type Settled = AnyResponse | typeof UNANSWERED;

/** A request that waits for its answer. It ends once; later attempts have no effect. */
export class PendingRequest {
  readonly request: OpenRequest;
  /** The response to send, if any. Rejects with a `RequestFailure` if the response is an error. */
  readonly settled: Promise<Settled>;
  readonly #controller = new AbortController();
  readonly #emit: (event: RequestEvent) => void;
  readonly #resolve: (settled: Settled) => void;
  readonly #reject: (error: RequestFailure) => void;
  #hasEnded = false;

  constructor(request: OpenRequest, emit: (event: RequestEvent) => void) {
    this.request = request;
    this.#emit = emit;
    const { promise, resolve, reject } = Promise.withResolvers<Settled>();
    this.settled = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Aborts if the request ends by anything other than a handler's answer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Ends the request with a handler's answer. */
  answer({ response, shown = response, decision, reason }: Answer): void {
    if (this.#hasEnded) return;
    this.#resolve(response);
    this.#end({
      by: "handler",
      response: shown,
      ...(decision !== undefined && { decision }),
      ...(reason !== undefined && { reason }),
    });
  }

  /** Ends the request with the denial of its kind, because there was no valid answer. */
  refuse(reason: string): void {
    if (this.#hasEnded) return;
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

  /** Ends the request without a response, because the server no longer waits for one. */
  withdraw(by: "otherClient" | "withdrawn", cause: Error): void {
    if (this.#hasEnded) return;
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
    this.#hasEnded = true;
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
