import type { Codex, JsonValue, v2 } from "codexkit";
import { basename, resolve } from "node:path";
import type { InboxRequest } from "../api/approval.ts";
import { type CallOutput, type CommandEnd, commandOutput, mcpOutput, patchOutput } from "./outputs.ts";
import type { ModelCall } from "./rollout-lines.ts";

/** Variables that Codex sets for commands of the model, but not for commands of a client. */
const COMMAND_ENV = {
  NO_COLOR: "1",
  TERM: "dumb",
  LANG: "C.UTF-8",
  LC_CTYPE: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  COLORTERM: "",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  CODEX_CI: "1",
} as const;

/** The longest timer. */
const MCP_TIMEOUT_MS = 2 ** 31 - 1;

export interface PerformContext {
  readonly codex: Codex;
  readonly threadId: string;
  /** The session's folder. */
  readonly cwd: string;
  /** The sandbox of the thread. */
  readonly sandbox: v2.SandboxPolicy;
  /** Ends the action. */
  readonly signal?: AbortSignal;
}

export interface PerformedAction {
  /** The output for the model. */
  readonly output: CallOutput;
  /** The result of a command or a patch. */
  readonly end?: CommandEnd;
}

/** Performs an action that a person has accepted, in place of Codex. */
export async function perform(
  request: InboxRequest,
  call: ModelCall,
  { codex, threadId, cwd: folder, sandbox, signal }: PerformContext,
): Promise<PerformedAction> {
  const stop = signal && { signal };
  const begun = performance.now();
  if (request.kind === "mcpTool") {
    const { content } = await codex.mcp.callTool(
      { threadId, server: request.server, tool: call.name, arguments: toArguments(call.input) },
      // The tool may ask for an approval.
      { timeoutMs: MCP_TIMEOUT_MS, ...stop },
    );
    return { output: mcpOutput(content, performance.now() - begun) };
  }
  const isPatch = request.kind === "fileChange";
  const { argv, cwd, isEscalated, maxTokens } = isPatch
    ? { argv: ["apply_patch", readPatch(call) ?? ""], cwd: folder, isEscalated: true, maxTokens: undefined }
    : readCommand(call, request, folder);
  const { exitCode, stdout, stderr } = await codex.exec.run(argv, {
    cwd,
    sandbox: isEscalated ? { type: "dangerFullAccess" } : withFolder(sandbox, folder),
    env: COMMAND_ENV,
    ...stop,
  });
  const end = { exitCode, output: stdout + stderr, wallMs: performance.now() - begun };
  return { output: isPatch ? patchOutput(end, call) : commandOutput(end, maxTokens), end };
}

/**
 * Adds the session's folder to the writable folders. A thread can always write there, a command without a thread only if the folder
 * is listed.
 */
function withFolder(sandbox: v2.SandboxPolicy, folder: string): v2.SandboxPolicy {
  if (sandbox.type !== "workspaceWrite") return sandbox;
  return { ...sandbox, writableRoots: [...sandbox.writableRoots, folder] };
}

function toArguments(input: string): JsonValue {
  return input === "" ? {} : (JSON.parse(input) as JsonValue);
}

interface CommandCall {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly isEscalated: boolean;
  readonly maxTokens: number | undefined;
}

/** Arguments of the tool that runs commands. */
export interface CommandArguments {
  readonly cmd?: string;
  readonly workdir?: string;
  readonly shell?: string;
  readonly login?: boolean;
  readonly sandbox_permissions?: string;
  readonly justification?: string;
  readonly max_output_tokens?: number;
}

function readCommand(call: ModelCall, request: InboxRequest, folder: string): CommandCall {
  const args = JSON.parse(call.input) as CommandArguments;
  const { cmd = "", workdir = ".", login, justification, max_output_tokens: maxTokens } = args;
  const asked = request.kind === "command" ? request : undefined;
  // Codex shows the whole command line: `/bin/bash -lc 'make'`.
  const shell = args.shell ?? /^(\S+) -l?c /.exec(asked?.command ?? "")?.[1] ?? "/bin/bash";
  // Interleaves both streams, like Codex.
  const script = basename(shell).endsWith("sh") ? `exec 2>&1\n${cmd}` : cmd;
  // Codex adds its own reason when it asks whether to repeat a command outside the sandbox that stopped it.
  const isRetry = justification === undefined && asked !== undefined && asked.reason !== null;
  return {
    argv: [shell, login === false ? "-c" : "-lc", script],
    cwd: asked?.cwd ?? resolve(folder, workdir),
    isEscalated: isRetry || args.sandbox_permissions === "require_escalated",
    maxTokens,
  };
}

/** Returns the text of a patch. Models without the tool send it as a command, which Codex recognises. */
export function readPatch({ type, name, input }: ModelCall): string | undefined {
  if (type === "custom_tool_call") return name === "apply_patch" ? input : undefined;
  const { cmd = "" } = JSON.parse(input) as CommandArguments;
  return /^apply_patch <<'?(\w+)'?\n([^]*\n)\1\s*$/.exec(cmd)?.[2];
}
