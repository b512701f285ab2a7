import type { Json, JsonObject } from "./json.ts";
import type { CallPart, CallVia, CodePart, PatchPart } from "./part.ts";

export interface ScriptedCallOptions {
  /** Overrides the generated `call_N`. For a direct call, this is also the id of Codex's item. */
  readonly callId?: string;
  readonly via?: CallVia;
}

export interface ToolOptions extends ScriptedCallOptions {
  /** The tool's namespace, e.g. `mcp__server` or a dynamic tool's own. */
  readonly namespace?: string;
}

/** Calls a tool: built-in, MCP or dynamic. */
export function callTool(name: string, args: JsonObject = {}, options: ToolOptions = {}): CallPart {
  const { namespace, callId, via = "auto" } = options;
  return {
    kind: "call",
    tool: name,
    args,
    via,
    ...(namespace !== undefined && { namespace }),
    ...(callId !== undefined && { callId }),
  };
}

export interface ScriptedRunOptions extends ScriptedCallOptions {
  /** Requests to run outside the sandbox, with this reason. This forces an approval under `on-request`. */
  readonly escalate?: string;
  /** The command prefix that an approval may cover from now on. Only with `escalate`. */
  readonly prefixRule?: readonly string[];
  readonly workdir?: string;
  readonly shell?: string;
  readonly login?: boolean;
  /** Whether the command gets a PTY. */
  readonly tty?: boolean;
  /** How long Codex waits before it returns a running command as a session (250 to 30,000). */
  readonly yieldMs?: number;
  readonly maxOutputTokens?: number;
}

/** Runs a shell command (`exec_command`). */
export function run(command: string, options: ScriptedRunOptions = {}): CallPart {
  const { escalate, prefixRule, workdir, shell, login, tty, yieldMs, maxOutputTokens } = options;
  const args = {
    cmd: command,
    ...(escalate !== undefined && { sandbox_permissions: "require_escalated", justification: escalate }),
    ...(prefixRule !== undefined && { prefix_rule: prefixRule }),
    ...(workdir !== undefined && { workdir }),
    ...(shell !== undefined && { shell }),
    ...(login !== undefined && { login }),
    ...(tty !== undefined && { tty }),
    ...(yieldMs !== undefined && { yield_time_ms: yieldMs }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
  };
  return callTool("exec_command", args, options);
}

export interface WriteStdinOptions extends ScriptedCallOptions {
  readonly yieldMs?: number;
  readonly maxOutputTokens?: number;
}

/** Writes to the stdin of a running command. `request.commandResult(…)` has its session id. */
export function writeStdin(sessionId: number, chars: string, options: WriteStdinOptions = {}): CallPart {
  const { yieldMs, maxOutputTokens } = options;
  const args = {
    session_id: sessionId,
    chars,
    ...(yieldMs !== undefined && { yield_time_ms: yieldMs }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
  };
  return callTool("write_stdin", args, options);
}

/**
 * Applies a patch in Codex's format. A model without the `apply_patch` tool sends it through `exec_command`,
 * which Codex recognises and reports as the same file change.
 */
export function patch(text: string, options: ScriptedCallOptions = {}): PatchPart {
  const { callId, via = "auto" } = options;
  return { kind: "patch", patch: text, via, ...(callId !== undefined && { callId }) };
}

/** One question of `askUser`. */
export interface ScriptedQuestion {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

/** Asks the user (`request_user_input`). Codex 0.166 allows it only in plan mode. */
export function askUser(questions: readonly ScriptedQuestion[], options: ScriptedCallOptions = {}): CallPart {
  const asked: Json = questions.map(({ id, header, question, options: choices }) => ({
    id,
    header,
    question,
    options: choices.map(({ label, description }) => ({ label, description })),
  }));
  // Both kinds of models call this tool directly, because it is not available to code.
  return callTool("request_user_input", { questions: asked }, { ...options, via: "direct" });
}

/** A cell of JavaScript, for models that write code: `text(await tools.exec_command({cmd: "ls"}))`. */
export function code(source: string, options: { readonly callId?: string } = {}): CodePart {
  return { kind: "code", source, ...(options.callId !== undefined && { callId: options.callId }) };
}
