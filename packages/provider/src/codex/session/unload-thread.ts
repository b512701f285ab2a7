import type { Codex } from "codexkit";

/**
 * Makes Codex let go of a thread: of the agents below it, its MCP servers, the commands that it left in the background and the
 * lock on its file. Unsubscribing alone leaves all of these for half an hour; an archived thread is unloaded at once, and one
 * that is taken out of the archive is as it was.
 */
export async function unloadThread(codex: Codex, threadId: string): Promise<void> {
  await codex.request("thread/archive", { threadId });
  await codex.request("thread/unarchive", { threadId });
}
