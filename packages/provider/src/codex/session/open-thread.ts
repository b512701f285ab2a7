import { type Codex, CodexError, type CodexEvent, type Thread } from "codexkit";
import type { permissionHandlers } from "../permissions/permission-handlers.ts";
import type { SpawnPlan } from "../plan/plan-spawn.ts";
import { unloadThread } from "./unload-thread.ts";

/** A thread, with its events from the moment it was opened: they start before there is a handle. */
export interface OpenedThread {
  readonly thread: Thread;
  readonly events: AsyncIterable<CodexEvent>;
}

export type ThreadSettings = SpawnPlan["thread"] & { handlers: ReturnType<typeof permissionHandlers> };

export async function startThread(codex: Codex, settings: ThreadSettings): Promise<OpenedThread> {
  return withEvents(await codex.startThread({ ...settings, bufferEvents: true }));
}

export async function resumeThread(
  codex: Codex,
  threadId: string,
  settings: ThreadSettings,
): Promise<OpenedThread> {
  const options = { ...settings, bufferEvents: true };
  try {
    return withEvents(await codex.resumeThread(threadId, options));
  } catch (error) {
    // It may have been archived by a user, or by a Codex that crashed while it unloaded the thread.
    if (!(error instanceof CodexError && error.code === "request_failed")) throw error;
    await codex.request("thread/unarchive", { threadId }).catch(() => {
      throw error;
    });
    return withEvents(await codex.resumeThread(threadId, options));
  }
}

function withEvents(thread: Thread): OpenedThread {
  return { thread, events: thread.events({ agents: true }) };
}

/** Releases a thread that is not used. Never rejects. */
export async function discardThread(codex: Codex, opening: Promise<OpenedThread>): Promise<void> {
  try {
    const { thread } = await opening;
    await thread.close();
    await unloadThread(codex, thread.id);
  } catch {
    // The thread was not opened, or Codex ended: there is nothing to release.
  }
}
