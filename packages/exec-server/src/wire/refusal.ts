/** JSON-RPC error codes of refused requests. */
export const CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /**
   * A path or a file handle that does not exist. On this code, Codex creates the parent folder of a patched
   * file.
   */
  notFound: -32004,
  /** The session to resume is attached to another connection. The client may retry. */
  sessionBusy: -32010,
} as const;

/** Thrown by request handlers. Determines the error that the client receives. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly rpcCode: number;

  constructor(rpcCode: number, message: string) {
    super(message);
    this.rpcCode = rpcCode;
  }
}
