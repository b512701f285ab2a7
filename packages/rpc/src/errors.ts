/** Why a call or a connection failed on this side. Stable: match these, never the message. */
export type RpcErrorCode =
  /** The connection ended; `cause` says why. Every pending call rejects with the same error. */
  | "closed"
  /** A connection could not be made. */
  | "connect_failed"
  /** The call was not answered within its `timeoutMs`. */
  | "timeout"
  /** The caller's signal fired; `cause` is the signal's reason. */
  | "aborted"
  /** A named queue of this side is full: see `RpcLimits`. */
  | "queue_full"
  /** A message is above `RpcLimits.messageBytes`. */
  | "message_too_large"
  /** The params or the result can't be written as JSON. */
  | "unserializable"
  /** What came is not a message: bad JSON, not an object, no method and no id, a binary frame. */
  | "malformed"
  /** A response came for an id that is not pending: unknown, or answered before. */
  | "unmatched_response"
  /** A handler of a notification threw; the read loop goes on. */
  | "handler_failed"
  /** The other side answered with an error: see `RemoteError`. */
  | "remote";

/** The base of every error that this package makes. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: RpcErrorCode;

  constructor(code: RpcErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The other side answered a call with an error; the numbers and words are its own. */
export class RemoteError extends RpcError {
  override readonly name = "RemoteError";
  readonly method: string;
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(method: string, wire: { code: number; message: string; data?: unknown }) {
    super("remote", `${method}: ${wire.message} (${wire.code})`);
    this.method = method;
    this.rpcCode = wire.code;
    this.data = wire.data;
  }
}

/** Thrown by a request handler to choose the error that the other side sees. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** The numeric codes that this package sends or reads. */
export const RPC_CODES = {
  /** "Overloaded, retry later": refused before any work began, so it is the one code that is safe to retry. */
  overloaded: -32001,
  methodNotFound: -32601,
  internalError: -32603,
} as const;

/** Whatever was thrown, as an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    // An object without a prototype, or with a `toString` that throws.
    return new Error("A value that has no text was thrown.");
  }
}
