/** Thrown in a write to roll it back, with its events, because another write has closed the approval before. */
export class ClosedMeanwhile extends Error {}

/** Ignores a write that found its approval closed. */
export async function unlessClosed(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!(error instanceof ClosedMeanwhile)) throw error;
  });
}
