import type { ItemOf } from "./item-of.ts";
import type { ToolView } from "./tool-view.ts";

export const COMMAND_TOOL = "codex_exec";

/** A shell command. One that exits with another code than 0 has a result like any other: only one that never ran is an error. */
export function commandView(item: ItemOf<"commandExecution">): ToolView {
  const { command, cwd, status, aggregatedOutput, exitCode, durationMs } = item;
  return {
    toolName: COMMAND_TOOL,
    input: { command, cwd },
    result: { status, exitCode, output: aggregatedOutput ?? "", durationMs },
    isError: status === "declined" || (status === "failed" && exitCode === null),
  };
}
