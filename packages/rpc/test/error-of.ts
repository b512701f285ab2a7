import { RpcError } from "../src/index.ts";

/** Returns the RpcError that a promise rejects with. Any other outcome fails the test. */
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
