import type { JsonValue, v2 } from "@codexkit/protocol";
import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CodexError } from "../errors.ts";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import { HANDLERS, type ServerRequestHandlers } from "../requests/handlers.ts";
import type { AnyTool } from "../tools/define-tool.ts";
import { type McpServers, toMcpServersConfig } from "../topics/mcp-servers.ts";

/** What stays with this side: the functions that answer the server. */
export interface ThreadHandlers {
  /** Tools of this program that the agent may call. Given to Codex when the thread starts; on a resume it remembers them. */
  readonly tools?: readonly AnyTool[];
  /** Answers to what the server asks in this thread; what is missing here falls to those of the `Codex`. */
  readonly handlers?: ServerRequestHandlers;
}

interface McpOption {
  /** MCP servers of this thread alone; the user's configuration is not touched. */
  readonly mcpServers?: McpServers;
}

type WireOptions<Params> = Omit<
  Params,
  "threadId" | "dynamicTools" | "history" | "path" | "excludeTurns" | "initialTurnsPage"
>;

/** How a thread starts: everything that `thread/start` takes, and this side's tools and handlers. */
export interface StartThreadOptions extends WireOptions<v2.ThreadStartParams>, ThreadHandlers, McpOption {}

/** How a thread resumes. Its history is not loaded: page through it with `thread.history`. */
export interface ResumeThreadOptions extends WireOptions<v2.ThreadResumeParams>, ThreadHandlers, McpOption {}

/** How a thread is copied: whole, through `lastTurnId`, or up to `beforeTurnId`. */
export interface ForkThreadOptions extends WireOptions<v2.ThreadForkParams>, ThreadHandlers, McpOption {}

export interface ShellOptions {
  readonly signal?: AbortSignal;
  /** How long the command may run. */
  readonly timeoutMs?: number;
}

export interface ThreadEventsOptions {
  /** Includes the threads of the agents that this thread started, and of theirs. Default: false. */
  readonly agents?: boolean;
}

/** How a thread is set up, as the server says. */
export type ThreadSettings = Pick<
  v2.ThreadStartResponse,
  "model" | "modelProvider" | "serviceTier" | "cwd" | "approvalPolicy" | "sandbox" | "reasoningEffort"
>;

type AnyThreadOptions = ThreadHandlers &
  McpOption & { readonly cwd?: string | null; readonly config?: { [key in string]?: JsonValue } | null };

/**
 * The part of the options that goes to the server, checked.
 * @param local Whether the server shares this machine's files, so that a missing folder can be told at once.
 */
export function toWire<Options extends AnyThreadOptions>(
  options: Options,
  local: boolean,
): Omit<Options, keyof ThreadHandlers | keyof McpOption> {
  const { tools: _tools, handlers: _handlers, mcpServers, ...wire } = options;
  if (wire.cwd !== undefined && wire.cwd !== null) checkCwd(wire.cwd, local);
  if (mcpServers === undefined) return wire;
  return { ...wire, config: { ...wire.config, mcp_servers: toMcpServersConfig(mcpServers) } };
}

/** A relative folder would be resolved by the server, against its own; a missing one only fails at the first command. */
export function checkCwd(cwd: string, local: boolean): void {
  if (!isAbsolute(cwd)) {
    throw new CodexError(
      "invalid_argument",
      `cwd must be absolute, got "${cwd}". Did you mean "${resolve(cwd)}"?`,
    );
  }
  if (local && !(existsSync(cwd) && statSync(cwd).isDirectory())) {
    throw new CodexError("invalid_argument", `cwd is not a folder: "${cwd}".`);
  }
}

// The names of all options, as values: types are gone when a program runs.

const OWN_THREAD_OPTIONS = { tools: true, handlers: true, mcpServers: true } as const;

/** What start, resume and fork have in common. */
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

/** Rejects misspelt options of `startThread`, `resumeThread` and `fork`, and values that are not tools. */
export function checkThreadOptions<Options extends ThreadHandlers>(
  what: string,
  options: Options,
  known: OptionKeys<Options>,
): void {
  rejectUnknownOptions(what, options, known);
  if (options.handlers) rejectUnknownOptions(`${what}: handlers`, options.handlers, HANDLERS);
  for (const [index, tool] of (options.tools ?? []).entries()) {
    if (isTool(tool)) continue;
    const message = `${what}: tools[${index}] is not a tool. Make it with defineTool or toolNamespace.`;
    throw new CodexError("invalid_argument", message);
  }
}

/** Whether this is what `defineTool` or `toolNamespace` gives. */
function isTool(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  if (value.type === "namespace")
    return "tools" in value && Array.isArray(value.tools) && value.tools.every(isTool);
  return value.type === "tool" && "invoke" in value && typeof value.invoke === "function";
}
