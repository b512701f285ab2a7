/** An error as callers of the provider get it; what converts it is loaded only when a call fails. */
export async function toCallError(error: unknown): Promise<unknown> {
  const { toModelError } = await import("../stream/turn-error.ts");
  return toModelError(error);
}
