import type { JsonValue, v2 } from "@codexkit/protocol";
import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CodexError } from "../errors.ts";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import { HANDLERS, type ServerRequestHandlers } from "../requests/handlers.ts";
import type { AnyTool } from "../tools/define-tool.ts";
import { type McpServers, toMcpServersConfig } from "../topics/mcp-servers.ts";

/** Functions of this program that respond to the server. */
export interface ThreadHandlers {
  /** Tools that the agent may call. Sent to Codex when the thread starts; Codex remembers them for a resume. */
  readonly tools?: readonly AnyTool[];
  /** Handlers for the requests of this thread. For missing ones, those of the `Codex` apply. */
  readonly handlers?: ServerRequestHandlers;
}

/** Options that are not request params. */
interface OwnThreadOptions extends ThreadHandlers {
  /** MCP servers of this thread only. The user's configuration is not changed. */
  readonly mcpServers?: McpServers;
  /**
   * Whether to keep all events since the call for the first reader of `thread.events()`. Without it, a reader misses the events
   * that arrive while the thread is opened. At most 20,000 events are kept. Default: false.
   */
  readonly bufferEvents?: boolean;
}

type WireOptions<Params> = Omit<
  Params,
  "threadId" | "dynamicTools" | "history" | "path" | "excludeTurns" | "initialTurnsPage"
>;

/** Everything that `thread/start` accepts, plus tools and handlers. */
export interface StartThreadOptions extends WireOptions<v2.ThreadStartParams>, OwnThreadOptions {}

/**
 * Everything that `thread/resume` accepts, plus tools and handlers. The history is not loaded: page through it with
 * `thread.history`.
 */
export interface ResumeThreadOptions extends WireOptions<v2.ThreadResumeParams>, OwnThreadOptions {}

/**
 * Everything that `thread/fork` accepts, plus tools and handlers. Copies all turns, those through `lastTurnId`, or
 * those up to `beforeTurnId`.
 */
export interface ForkThreadOptions extends WireOptions<v2.ThreadForkParams>, OwnThreadOptions {}

export interface ShellOptions {
  readonly signal?: AbortSignal;
  /** Timeout of the command. */
  readonly timeoutMs?: number;
}

export interface ThreadEventsOptions {
  /** Whether to include the threads of the agents that this thread started, and of theirs. Default: false. */
  readonly agents?: boolean;
}

/** Settings of a thread, as reported by the server. */
export type ThreadSettings = Pick<
  v2.ThreadStartResponse,
  "model" | "modelProvider" | "serviceTier" | "cwd" | "approvalPolicy" | "sandbox" | "reasoningEffort"
>;

type AnyThreadOptions = OwnThreadOptions & {
  readonly cwd?: string | null;
  readonly config?: { [key in string]?: JsonValue } | null;
};

/**
 * Converts the options to request params and validates them.
 * @param local Whether the server shares this file system, so that missing folders can be rejected early.
 */
export function toWire<Options extends AnyThreadOptions>(
  options: Options,
  local: boolean,
): Omit<Options, keyof OwnThreadOptions> {
  const { tools: _tools, handlers: _handlers, bufferEvents: _buffer, mcpServers, ...wire } = options;
  if (wire.cwd !== undefined && wire.cwd !== null) checkCwd(wire.cwd, local);
  if (mcpServers === undefined) return wire;
  return { ...wire, config: { ...wire.config, mcp_servers: toMcpServersConfig(mcpServers) } };
}

/** The server would resolve a relative folder against its own, and a missing one fails only at the first command. */
export function checkCwd(cwd: string, local: boolean): void {
  if (!isAbsolute(cwd)) {
    throw new CodexError(
      "invalid_argument",
      `cwd must be absolute, got "${cwd}". Did you mean "${resolve(cwd)}"?`,
    );
  }
  if (local && !(existsSync(cwd) && statSync(cwd).isDirectory())) {
    throw new CodexError("invalid_argument", `cwd must be an existing folder, got "${cwd}".`);
  }
}

// Names of all options as values, because types don't exist at run time.

const OWN_THREAD_OPTIONS: OptionKeys<OwnThreadOptions> = {
  tools: true,
  handlers: true,
  mcpServers: true,
  bufferEvents: true,
};

/** Options that start, resume and fork have in common. */
const THREAD_SETTINGS = {
  ...OWN_THREAD_OPTIONS,
  model: true,
  modelProvider: true,
  serviceTier: true,
  cwd: true,
  runtimeWorkspaceRoots: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandbox: true,
  permissions: true,
  config: true,
  baseInstructions: true,
  developerInstructions: true,
} as const;

export const START_THREAD: OptionKeys<StartThreadOptions> = {
  ...THREAD_SETTINGS,
  allowProviderModelFallback: true,
  serviceName: true,
  personality: true,
  multiAgentMode: true,
  ephemeral: true,
  historyMode: true,
  sessionStartSource: true,
  threadSource: true,
  projectId: true,
  daybreakEnabled: true,
  environments: true,
  selectedCapabilityRoots: true,
  mockExperimentalField: true,
  experimentalRawEvents: true,
};

export const RESUME_THREAD: OptionKeys<ResumeThreadOptions> = { ...THREAD_SETTINGS, personality: true };

export const FORK_THREAD: OptionKeys<ForkThreadOptions> = {
  ...THREAD_SETTINGS,
  experimentalPredictionMode: true,
  experimentalDisablePredictionMcp: true,
  lastTurnId: true,
  beforeTurnId: true,
  ephemeral: true,
  attachToSource: true,
  threadSource: true,
  deferGoalContinuation: true,
};

export const UPDATE_SETTINGS: OptionKeys<Omit<v2.ThreadSettingsUpdateParams, "threadId">> = {
  disabledPluginIds: true,
  cwd: true,
  approvalPolicy: true,
  approvalsReviewer: true,
  sandboxPolicy: true,
  permissions: true,
  model: true,
  serviceTier: true,
  effort: true,
  summary: true,
  collaborationMode: true,
  multiAgentMode: true,
  personality: true,
};

export const SHELL: OptionKeys<ShellOptions> = { signal: true, timeoutMs: true };

export const THREAD_EVENTS: OptionKeys<ThreadEventsOptions> = { agents: true };

/** Rejects unknown options of `startThread`, `resumeThread` and `fork`, and values that are not tools. */
export function checkThreadOptions<Options extends ThreadHandlers>(
  what: string,
  options: Options,
  known: OptionKeys<Options>,
): void {
  rejectUnknownOptions(what, options, known);
  if (options.handlers) rejectUnknownOptions(`${what}: handlers`, options.handlers, HANDLERS);
  for (const [index, tool] of (options.tools ?? []).entries()) {
    if (isTool(tool)) continue;
    const message = `${what}: tools[${index}] is not a tool. Create it with defineTool or toolNamespace.`;
    throw new CodexError("invalid_argument", message);
  }
}

/** Whether a value was created by `defineTool` or `toolNamespace`. */
function isTool(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "namespace")
    return "tools" in value && Array.isArray(value.tools) && value.tools.every(isTool);
  return value.type === "tool" && "invoke" in value && typeof value.invoke === "function";
}
