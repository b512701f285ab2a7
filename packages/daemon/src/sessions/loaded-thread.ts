import { type Codex, CodexError, type ServerRequestHandlers, type Thread, type AnyTool } from "codexkit";
import { stat } from "node:fs/promises";
import type { AppServerLease } from "../codex/pool.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import { threadOptions } from "./map-settings.ts";

/** A session's thread that is loaded on an app-server. */
export interface LoadedThread {
  readonly lease: AppServerLease;
  readonly codex: Codex;
  readonly thread: Thread;
  /** The agent mode that Codex currently uses. Undefined if unknown. */
  agentMode: SessionSettings["agentMode"] | undefined;
}

export interface LoadOptions {
  readonly sessionId: string;
  /** If undefined, a new thread is started. */
  readonly threadId: string | undefined;
  readonly cwd: string;
  readonly settings: SessionSettings;
  readonly setup: SessionSetup;
  readonly handlers: ServerRequestHandlers;
  /** Tools that the daemon runs for the session. */
  readonly tools: readonly AnyTool[];
}

/** Starts or resumes the thread of a session on an app-server. If this rejects, the caller disposes of the lease. */
export async function loadThread(lease: AppServerLease, options: LoadOptions): Promise<LoadedThread> {
  const { codex } = lease.server;
  const { sessionId, threadId, cwd, settings, setup, handlers, tools } = options;
  const { environment } = setup;
  if (!environment) await checkFolder(cwd);
  else {
    await codex.environments.add({
      id: sessionId,
      url: environment.url,
      ...(environment.token === undefined ? {} : { bearerToken: environment.token }),
    });
  }
  const common = { ...threadOptions(cwd, settings, setup), handlers, tools };
  if (threadId === undefined) {
    const environments = environmentsOf(options);
    const thread = await codex.startThread({ ...common, ...(environments ? { environments } : {}) });
    return { lease, codex, thread, agentMode: "build" };
  }
  const thread = await codex.resumeThread(threadId, common);
  return { lease, codex, thread, agentMode: undefined };
}

/** Rejects a missing folder, which Codex would accept and then fail at the first command. */
async function checkFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new CodexError(
    "invalid_argument",
    `The working folder "${cwd}" no longer exists. Create it again, or delete the session.`,
  );
}

/** Returns the execution environment of a session's turns. Codex forgets it when its process ends, so each turn names it. */
export function environmentsOf({
  sessionId,
  cwd,
  setup,
}: Pick<LoadOptions, "sessionId" | "cwd" | "setup">):
  | { readonly environmentId: string; readonly cwd: string }[]
  | undefined {
  return setup.environment ? [{ environmentId: sessionId, cwd }] : undefined;
}
