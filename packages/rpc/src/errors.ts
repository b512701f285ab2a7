/** Reason of a local failure of a call or a connection. Stable: match on these, never on the message. */
export type RpcErrorCode =
  /** The connection ended; `cause` has the reason. All pending calls reject with the same error. */
  | "closed"
  /** This side closed the connection with `Peer.close`. */
  | "closed_locally"
  /** A connection could not be opened. */
  | "connect_failed"
  /** The call got no response within its `timeoutMs`. */
  | "timeout"
  /** The caller's signal was aborted. `cause` is its reason. */
  | "aborted"
  /** A queue on this side is full; the message names the limit in `RpcLimits`. */
  | "queue_full"
  /** A message exceeds `RpcLimits.messageBytes`. */
  | "message_too_large"
  /** The params or the result can't be serialised as JSON. */
  | "unserializable"
  /** The received data is not a message: invalid JSON, not an object, neither method nor ID, or a binary frame. */
  | "malformed"
  /** A response arrived for an ID that is not pending: it is unknown or was already answered. */
  | "unmatched_response"
  /** A notification listener threw. The read loop continues. */
  | "handler_failed"
  /** The other side responded with an error: see `RemoteError`. */
  | "remote";

const RPC_ERROR = Symbol.for("codexkit.RpcError");
const REMOTE_ERROR = Symbol.for("codexkit.RemoteError");
const REQUEST_FAILURE = Symbol.for("codexkit.RequestFailure");

/** Base class of every error that a peer or a transport throws. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: RpcErrorCode;

  constructor(code: RpcErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    addBrand(this.prototype, RPC_ERROR);
  }

  /** Whether a value is an `RpcError`, including one from another copy of this package. */
  static is(value: unknown): value is RpcError {
    return hasBrand(value, RPC_ERROR);
  }
}

/** The other side responded to a call with an error. `rpcCode`, `data` and the message are its own. */
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

  static {
    addBrand(this.prototype, REMOTE_ERROR);
  }

  /** Whether a value is a `RemoteError`, including one from another copy of this package. */
  static override is(value: unknown): value is RemoteError {
    return hasBrand(value, REMOTE_ERROR);
  }
}

/** Thrown by a request handler to choose the error that the other side receives. */
export class RequestFailure extends Error {
  override readonly name = "RequestFailure";
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(rpcCode: number, message: string, data?: unknown) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }

  static {
    addBrand(this.prototype, REQUEST_FAILURE);
  }

  /** Whether a value is a `RequestFailure`, including one from another copy of this package. */
  static is(value: unknown): value is RequestFailure {
    return hasBrand(value, REQUEST_FAILURE);
  }
}

/** The numeric error codes that this package sends or interprets. */
export const RPC_CODES = {
  /** "Overloaded, retry later". The request was refused before any work began, so this is the only code that is safe to retry. */
  overloaded: -32001,
  methodNotFound: -32601,
  internalError: -32603,
} as const;

/** Converts a thrown value to an Error. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    // An object without a prototype, or with a `toString` that throws.
    return new Error("A value without a string representation was thrown.");
  }
}

/** Marks a class for all copies of the package. The mark is on the prototype, which hides it from the type and printed errors. */
function addBrand(prototype: object, brand: symbol): void {
  Object.defineProperty(prototype, brand, { value: true });
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && brand in value;
}
