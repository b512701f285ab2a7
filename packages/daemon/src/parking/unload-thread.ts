import { type Codex, CodexError } from "codexkit";

/** Makes Codex forget a thread, so that its file can be replaced. No-op if this home never had the thread. */
export async function unloadThread(codex: Codex, threadId: string): Promise<void> {
  try {
    await codex.deleteThread(threadId);
  } catch (error) {
    if (!CodexError.is(error)) throw error;
    if (error.code === "thread_not_found") return;
    // After any other error, Codex may still have a longer file in memory.
    if (error.code !== "request_failed") throw error;
    // Codex refuses to delete a thread that a fork continues. Archiving unloads it too.
    await codex.request("thread/archive", { threadId });
    await codex.request("thread/unarchive", { threadId });
  }
}
