import type { McpServers, RunOptions, StartThreadOptions, v2 } from "codexkit";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";

/** The settings that Codex enforces for a permission mode. */
export interface ThreadPermissions {
  readonly sandbox: v2.SandboxMode;
  readonly approvalPolicy: v2.AskForApproval;
}

const CHAT_INSTRUCTIONS =
  "You are in chat mode: answer the user's questions. You may read files and run commands that only read, but don't change " +
  "files, settings or anything outside this conversation. If a change is needed, describe it instead.";

/**
 * Maps the modes of a session to Codex's settings. In `danger-full-access` Codex has no sandbox, so the daemon's policy evaluates
 * every command, and Codex must ask about all of them. `bypass` asks about nothing. Codex's plan mode only instructs the model, so
 * the read-only sandbox enforces it; if no person can be asked, nothing may leave the sandbox.
 */
export function permissionsOf({
  permissionMode,
  agentMode,
  approvalPolicy,
}: Pick<SessionSettings, "permissionMode" | "agentMode" | "approvalPolicy">): ThreadPermissions {
  if (agentMode === "chat") return { sandbox: "read-only", approvalPolicy: "never" };
  const isUnattended = permissionMode === "bypass" || permissionMode === "danger-full-access";
  if (agentMode === "plan") {
    return { sandbox: "read-only", approvalPolicy: isUnattended ? "never" : approvalPolicy };
  }
  if (permissionMode === "bypass") return { sandbox: "danger-full-access", approvalPolicy: "never" };
  if (permissionMode === "danger-full-access") {
    return { sandbox: "danger-full-access", approvalPolicy: "untrusted" };
  }
  return { sandbox: permissionMode, approvalPolicy };
}

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
  return {
    mode: agentMode === "plan" ? "plan" : "default",
    settings: {
      model: model ?? threadModel,
      reasoning_effort: effort ?? null,
      developer_instructions: agentMode === "chat" ? CHAT_INSTRUCTIONS : null,
    },
  };
}

/** Returns the turn options that can change during a session. Codex keeps them for later turns. */
export function turnOptions({ model, effort }: SessionSettings): Pick<RunOptions, "model" | "effort"> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
}
