import type { JsonValue, v2 } from "@codexkit/protocol";
import { existsSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CodexError } from "../errors.ts";
import type { ServerRequestHandlers } from "../requests/handlers.ts";
import type { AnyTool } from "../tools/define-tool.ts";
import { type McpServers, toMcpServersConfig } from "../topics/mcp-servers-config.ts";

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
