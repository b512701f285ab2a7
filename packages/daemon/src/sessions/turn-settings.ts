import type { RunOptions } from "codexkit";
import { environmentsOf, type LoadedThread } from "./loaded-thread.ts";
import { collaborationModeOf, turnOptions } from "./map-settings.ts";
import type { SessionState } from "./session-state.ts";

/** Returns the options with which each turn of a session is started. */
export function turnSettings({ settings, ...state }: SessionState, loaded: LoadedThread): RunOptions {
  const collaborationMode = collaborationModeOf(settings, loaded.agentMode, loaded.thread.settings.model);
  const environments = environmentsOf(state);
  return {
    ...turnOptions(settings),
    ...(collaborationMode ? { collaborationMode } : {}),
    ...(environments ? { environments } : {}),
  };
}
