/** Thrown to roll back a write and its events, because another write has already closed the approval. */
export class ApprovalClosedError extends Error {}

/** Ignores a write that failed because the approval was already closed. */
export async function ignoreClosed(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    if (!(error instanceof ApprovalClosedError)) throw error;
  });
}
