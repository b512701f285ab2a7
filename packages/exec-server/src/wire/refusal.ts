/** JSON-RPC error codes of refused requests. */
export const CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** A path or a file handle that does not exist. Codex makes the parent folder of a patched file after this one. */
  notFound: -32004,
  /** The session to resume is attached to another connection; worth another try. */
  sessionBusy: -32010,
} as const;

/** Thrown while a request is served. Chooses the error that the client receives. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly rpcCode: number;

  constructor(rpcCode: number, message: string) {
    super(message);
    this.rpcCode = rpcCode;
  }
}
