/** Thrown by whatever serves a request, to choose the error that the client sees. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly rpcCode: number;

  constructor(rpcCode: number, message: string) {
    super(message);
    this.rpcCode = rpcCode;
  }
}
