import { setImmediate as nextIteration } from "node:timers/promises";
import { AsyncQueue } from "@codexkit/rpc/async";
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

export function startThread(codex: Codex, settings: ThreadSettings): Promise<OpenedThread> {
  return openWithEvents(codex, () => codex.startThread(settings));
}

export function resumeThread(
  codex: Codex,
  threadId: string,
  settings: ThreadSettings,
): Promise<OpenedThread> {
  return openWithEvents(codex, async () => {
    try {
      return await codex.resumeThread(threadId, settings);
    } catch (error) {
      // It may have been archived by a user, or by a Codex that crashed while it unloaded the thread.
      if (!(error instanceof CodexError && error.code === "request_failed")) throw error;
      await codex.request("thread/unarchive", { threadId }).catch(() => {
        throw error;
      });
      return codex.resumeThread(threadId, settings);
    }
  });
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

/**
 * Opens a thread and reads its events without a gap. Notifications that arrive together with the response, such as the status of
 * MCP servers, are published before the caller has the thread: these are taken from the events of all threads.
 */
async function openWithEvents(codex: Codex, open: () => Promise<Thread>): Promise<OpenedThread> {
  const all = codex.events();
  const early: CodexEvent[] = [];
  void collect(all, (event) => early.push(event));
  try {
    const thread = await open();
    const events = new AsyncQueue<CodexEvent>();
    const own = new Set<CodexEvent>();
    let isComplete = false;
    const reading = collect(thread.events({ agents: true }), (event) => {
      if (isComplete) events.push(event);
      else own.add(event);
    });
    // Both readers have everything that was published until here.
    await nextIteration();
    for (const event of early) if (event.threadId === thread.id && !own.has(event)) events.push(event);
    for (const event of own) events.push(event);
    isComplete = true;
    void reading.finally(() => events.end());
    return { thread, events };
  } finally {
    void all.return?.();
  }
}

async function collect(
  events: AsyncIterable<CodexEvent>,
  onEvent: (event: CodexEvent) => void,
): Promise<void> {
  for await (const event of events) onEvent(event);
}
