import { RequestFailure, RPC_CODES, toError } from "./errors.ts";
import {
  replaceLoneSurrogates,
  type RequestId,
  type RequestMessage,
  serializeValue,
  type WireError,
} from "./message.ts";

export interface RequestContext {
  readonly id: RequestId;
  readonly method: string;
  /** Aborts when the connection ends, because the response can no longer be delivered. */
  readonly signal: AbortSignal;
  /** The whole message, including members other than `params`. */
  readonly message: RequestMessage;
}

/**
 * Returned by a handler to send no response, because the request was a repetition or the other side has withdrawn it.
 * The handler guarantees that the other side is not waiting.
 */
export const UNANSWERED: unique symbol = Symbol("unanswered");

export type AnyRequestHandler = (params: unknown, context: RequestContext) => unknown;

/** Handles the requests of the other side. Each gets exactly one response, whatever its handler does. */
export class IncomingRequests {
  readonly #limit: number;
  readonly #reply: (text: string) => void;
  readonly #running = new Set<AbortController>();

  constructor(limit: number, reply: (text: string) => void) {
    this.#limit = limit;
    this.#reply = reply;
  }

  serve(message: RequestMessage, handler: AnyRequestHandler | undefined): void {
    if (!handler) {
      this.#refuse(message.id, {
        code: RPC_CODES.methodNotFound,
        message: `Method not found: ${message.method}`,
      });
    } else if (this.#running.size >= this.#limit) {
      this.#refuse(message.id, { code: RPC_CODES.overloaded, message: "Overloaded; retry later." });
    } else {
      void this.#run(message, handler);
    }
  }

  end(reason: Error): void {
    for (const controller of this.#running) controller.abort(reason);
  }

  async #run(message: RequestMessage, handler: AnyRequestHandler): Promise<void> {
    const { id, method, params } = message;
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.add(controller);
    let reply: string;
    try {
      // Yields, so that the handler does not run inside the read loop.
      await Promise.resolve();
      if (signal.aborted) return;
      const result = (await handler(params, { id, method, signal, message })) ?? null;
      if (result === UNANSWERED) return;
      reply = `{"id":${JSON.stringify(id)},"result":${serializeValue(result, `The result of ${method}`)}}`;
    } catch (error) {
      reply = toErrorResponse(id, toWireError(error));
    } finally {
      this.#running.delete(controller);
    }
    if (!signal.aborted) this.#reply(reply);
  }

  #refuse(id: RequestId, error: WireError): void {
    this.#reply(toErrorResponse(id, error));
  }
}

function toWireError(thrown: unknown): WireError {
  // The message of a thrown error is not necessarily a string.
  const { message: text }: { message: unknown } = toError(thrown);
  const message = typeof text === "string" ? text : "The handler failed.";
  if (!RequestFailure.is(thrown)) return { code: RPC_CODES.internalError, message };
  return { code: thrown.rpcCode, message, data: thrown.data };
}

/** Builds an error response with a code, a message and, if it can be serialised, the data. */
function toErrorResponse(id: RequestId, { code, message, data }: WireError): string {
  const error = {
    // JSON writes a code such as NaN as null, which the other side would not recognise as an error.
    code: Number.isInteger(code) ? code : RPC_CODES.internalError,
    message,
  };
  try {
    return replaceLoneSurrogates(JSON.stringify({ id, error: { ...error, data } }));
  } catch {
    return replaceLoneSurrogates(JSON.stringify({ id, error }));
  }
}
