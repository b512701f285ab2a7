import type { RunOptions } from "codexkit";
import { type LoadedThread, selectEnvironment } from "./loaded-thread.ts";
import { collaborationModeOf, turnOptions } from "./map-settings.ts";
import type { SessionState } from "./session-state.ts";

/** Prepares the start of a turn, and returns its options. */
export async function prepareTurn(
  { settings, cwd }: SessionState,
  { thread, environment, agentMode }: LoadedThread,
): Promise<RunOptions> {
  await environment?.renew();
  const collaborationMode = collaborationModeOf(settings, agentMode, thread.settings.model);
  const environments = selectEnvironment(environment, cwd);
  return {
    ...turnOptions(settings),
    ...(collaborationMode ? { collaborationMode } : {}),
    ...(environments ? { environments } : {}),
  };
}
