import { RpcError } from "../src/index.ts";

/** The RpcError that a promise rejects with; anything else fails the test. */
export async function errorOf(promise: Promise<unknown>): Promise<RpcError> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
  throw new Error(`Expected a rejection, got ${JSON.stringify(result)}.`);
}
