import type { Codex } from "codexkit";

/**
 * Makes Codex unload a thread: its subagents, its MCP servers, its background commands and the lock on its file. After a mere
 * unsubscribe, these stay for another minute. Archiving unloads a thread immediately, and unarchiving restores its state.
 */
export async function unloadThread(codex: Codex, threadId: string): Promise<void> {
  await codex.request("thread/archive", { threadId });
  await codex.request("thread/unarchive", { threadId });
}
