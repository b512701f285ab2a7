import type { McpServers, RunOptions, StartThreadOptions, v2 } from "codexkit";
import { permissionsOf, toCollaborationMode } from "../api/agent-mode.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";

/** Returns the sandbox policy for a sandbox mode, for calls that don't accept a mode. */
export function sandboxPolicyOf(sandbox: v2.SandboxMode): v2.SandboxPolicy {
  switch (sandbox) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}

/** Options for starting or resuming the thread of a session. A resume without them would fall back to the configuration. */
export function threadOptions(
  cwd: string,
  settings: SessionSettings,
  { mcpServers }: SessionSetup,
): Pick<StartThreadOptions, "cwd" | "model" | "sandbox" | "approvalPolicy" | "config" | "mcpServers"> {
  return {
    cwd,
    ...permissionsOf(settings),
    ...(settings.model === undefined ? {} : { model: settings.model }),
    ...(settings.effort === undefined ? {} : { config: { model_reasoning_effort: settings.effort } }),
    ...(mcpServers === undefined ? {} : { mcpServers: toMcpServers(mcpServers) }),
  };
}

/** zod types a missing member as `undefined`, which the SDK's types distinguish. */
function toMcpServers(servers: NonNullable<SessionSetup["mcpServers"]>): McpServers {
  return JSON.parse(JSON.stringify(servers)) as McpServers;
}

/**
 * Returns the collaboration mode of a session's next turn. Codex keeps the mode of the last turn, so leaving a mode must be as
 * explicit as entering it. Undefined if the mode need not change.
 *
 * @param known The current mode of the thread. Undefined if unknown.
 * @param threadModel The model of the thread, for sessions without a configured model.
 */
export function collaborationModeOf(
  { agentMode, model, effort }: SessionSettings,
  known: SessionSettings["agentMode"] | undefined,
  threadModel: string,
): v2.ThreadSettingsUpdateParams["collaborationMode"] {
  if (agentMode === "build" && known === "build") return undefined;
  return toCollaborationMode(agentMode, { model: model ?? threadModel, effort: effort ?? null });
}

/** Returns the turn options that can change during a session. Codex keeps them for later turns. */
export function turnOptions({ model, effort }: SessionSettings): Pick<RunOptions, "model" | "effort"> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
}
