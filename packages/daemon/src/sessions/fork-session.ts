import type { Thread } from "codexkit";
import { randomUUID } from "node:crypto";
import type { CommandBody } from "../api/command.ts";
import type { CommandStore } from "../commands/command-store.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { SessionStore } from "../session-store/session-store.ts";
import type { Step } from "./command-executor.ts";
import { threadOptions } from "./map-settings.ts";
import type { SessionState } from "./session-state.ts";

type ShipStep = (trx: DaemonTransaction) => Promise<void>;

/** Forks the thread of a session. The new session is added in the transaction that stores the command's result. */
export async function forkSession(
  thread: Thread,
  state: SessionState,
  {
    body: { name, lastTurnId },
    commandId,
    by,
    sessions,
    commands,
    ship,
  }: {
    body: CommandBody<"fork">;
    commandId: string;
    by: string;
    sessions: SessionStore;
    commands: CommandStore;
    /** Returns the step that stores the file of the copy and those that it continues, so that another node can continue it. */
    ship: (fork: { readonly sessionId: string; readonly thread: Thread }) => Promise<ShipStep>;
  },
): Promise<Step> {
  const { cwd, settings, setup, tenantId, priority, needs } = state;
  const forked = await thread.fork({
    ...threadOptions(cwd, settings, setup),
    ...(lastTurnId === undefined ? {} : { lastTurnId }),
  });
  const id = randomUUID();
  const storeFiles = await ship({ sessionId: id, thread: forked });
  if (setup.dedicated === true) {
    // The copy will use its own app-server. Archiving makes this app-server unload the thread and release its lock.
    await forked.archive();
    await forked.unarchive();
  }
  await forked.close();
  const session = {
    id,
    cwd,
    settings,
    setup,
    tenantId,
    priority,
    needs,
    threadId: forked.id,
    by,
    key: `fork:${commandId}`,
    ...(name === undefined ? {} : { name }),
  };
  return {
    result: { ok: true, sessionId: id, threadId: forked.id },
    options: {
      also: async (trx) => {
        await sessions.insert(session, { trx });
        await storeFiles(trx);
      },
    },
    // Makes an owner read the copied history into the journal now instead of with the first message.
    after: async () => {
      await commands.submit({ sessionId: id, key: `load:${id}`, kind: "create", body: {}, by });
    },
  };
}
