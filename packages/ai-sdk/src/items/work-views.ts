import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import type { ItemOf, ToolView } from "./tool-view.ts";

/** An operation on a subagent, such as starting it, waiting for it or sending it a message. */
export function agentView(item: ItemOf<"collabAgentToolCall">): ToolView {
  const { tool, status, prompt, model, receiverThreadIds, agentsStates } = item;
  return {
    toolName: `codex_${tool.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    input: {
      ...(prompt !== null && { prompt }),
      ...(model !== null && { model }),
      agents: [...receiverThreadIds],
    },
    result: { status, agents: { ...agentsStates } as JSONObject },
    isError: status === "failed",
  };
}

export const COMMAND_TOOL = "codex_exec";

/** A shell command. A non-zero exit code is a normal result; only a command that never ran is an error. */
export function commandView(item: ItemOf<"commandExecution">): ToolView {
  const { command, cwd, status, aggregatedOutput, exitCode, durationMs } = item;
  return {
    toolName: COMMAND_TOOL,
    input: { command, cwd },
    result: { status, exitCode, output: aggregatedOutput ?? "", durationMs },
    isError: status === "declined" || (status === "failed" && exitCode === null),
  };
}

/** A tool that the provider runs. */
export function dynamicToolView(item: ItemOf<"dynamicToolCall">): ToolView {
  const { tool, status, success, contentItems } = item;
  return {
    toolName: tool,
    input: item.arguments ?? {},
    result: { status, content: (contentItems ?? []) as unknown as JSONValue[] },
    isError: success === false,
  };
}

export const PATCH_TOOL = "codex_patch";

/** File changes with their diffs. */
export function patchView({ changes, status }: ItemOf<"fileChange">): ToolView {
  return {
    toolName: PATCH_TOOL,
    input: { changes: changes.map(toChange) },
    result: { status, files: changes.map(({ path }) => path) },
    isError: status === "failed" || status === "declined",
  };
}

export function toChange({ path, kind, diff }: v2.FileUpdateChange): JSONValue {
  return { path, kind: kind.type, diff, ...("move_path" in kind && { movedTo: kind.move_path }) };
}
