import { RequestFailure, RPC_CODES, toError } from "./errors.ts";
import { type RequestId, type RequestMessage, serializeValue, type WireError } from "./message.ts";

export interface RequestContext {
  readonly id: RequestId;
  readonly method: string;
  /** Fires when the connection ends: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** The whole message, with the members that stand beside `params`. */
  readonly message: RequestMessage;
}

/**
 * What a handler returns to send no answer: the other side asked the same again, or took the question back. It is the
 * handler's word that nobody waits.
 */
export const UNANSWERED: unique symbol = Symbol("unanswered");

export type AnyRequestHandler = (params: unknown, context: RequestContext) => unknown;

/** The other side's requests that run here: each is answered once, whatever its handler does. */
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
      // Leaves the read loop before the handler's first line runs.
      await Promise.resolve();
      if (signal.aborted) return;
      const result = (await handler(params, { id, method, signal, message })) ?? null;
      if (result === UNANSWERED) return;
      reply = `{"id":${JSON.stringify(id)},"result":${serializeValue(result, `The result of ${method}`)}}`;
    } catch (error) {
      reply = errorReply(id, asWireError(error));
    } finally {
      this.#running.delete(controller);
    }
    if (!signal.aborted) this.#reply(reply);
  }

  #refuse(id: RequestId, error: WireError): void {
    this.#reply(errorReply(id, error));
  }
}

function asWireError(thrown: unknown): WireError {
  // Nothing keeps a thrown error from having a message that is no text.
  const { message: text }: { message: unknown } = toError(thrown);
  const message = typeof text === "string" ? text : "The handler failed.";
  if (!(thrown instanceof RequestFailure)) return { code: RPC_CODES.internalError, message };
  return { code: thrown.rpcCode, message, data: thrown.data };
}

/** Whatever was thrown, the answer has a code, a message and, where JSON can hold it, the data. */
function errorReply(id: RequestId, { code, message, data }: WireError): string {
  const error = {
    // The other side would not know an answer by a code such as NaN, which JSON writes as null.
    code: Number.isInteger(code) ? code : RPC_CODES.internalError,
    message,
  };
  try {
    return JSON.stringify({ id, error: { ...error, data } });
  } catch {
    return JSON.stringify({ id, error });
  }
}
