import { type Codex, CodexError, type ServerRequestHandlers, type Thread, type AnyTool } from "codexkit";
import { stat } from "node:fs/promises";
import type { AppServer } from "../codex/app-server.ts";
import type { AppServerLease } from "../codex/pool.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import { threadOptions } from "./map-settings.ts";
import { SessionEnvironment } from "./session-environment.ts";

/** A session's thread that is loaded on an app-server. */
export interface LoadedThread {
  readonly lease: AppServerLease;
  readonly codex: Codex;
  readonly thread: Thread;
  /** Where the commands of the session run. Undefined if they run on this machine. */
  readonly environment: SessionEnvironment | undefined;
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
  /** The epoch of the session's owner. */
  readonly epoch: number;
  /** Whether another node had the session since the app-server had it last. */
  readonly isForeign: boolean;
  /** Validity of the tokens that are signed for the session's environment, in milliseconds. */
  readonly environmentTokenMs: number;
}

/** Starts or resumes the thread of a session on an app-server. If this rejects, the caller disposes of the lease. */
export async function loadThread(lease: AppServerLease, options: LoadOptions): Promise<LoadedThread> {
  const { codex } = lease.server;
  const { threadId, cwd, settings, setup, handlers, tools } = options;
  const environment = await openEnvironment(lease.server, options);
  if (!environment) await checkFolder(cwd);
  const common = { ...threadOptions(cwd, settings, setup), handlers, tools };
  if (threadId === undefined) {
    const environments = selectEnvironment(environment, cwd);
    const thread = await codex.startThread({ ...common, ...(environments && { environments }) });
    return { lease, codex, thread, environment, agentMode: "build" };
  }
  const thread = await codex.resumeThread(threadId, common);
  return { lease, codex, thread, environment, agentMode: undefined };
}

async function openEnvironment(
  server: AppServer,
  { setup: { environment }, environmentTokenMs: tokenMs, ...options }: LoadOptions,
): Promise<SessionEnvironment | undefined> {
  return environment && SessionEnvironment.open(server, { ...options, environment, tokenMs });
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

/** Selects where the commands of a turn run. Codex forgets it when its process ends, so each turn names it. */
export function selectEnvironment(
  environment: SessionEnvironment | undefined,
  cwd: string,
): { readonly environmentId: string; readonly cwd: string }[] | undefined {
  return environment && [{ environmentId: environment.id, cwd }];
}
