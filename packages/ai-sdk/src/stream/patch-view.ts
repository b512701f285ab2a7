import type { JSONValue } from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import type { ItemOf } from "./item-of.ts";
import type { ToolView } from "./tool-view.ts";

export const PATCH_TOOL = "codex_patch";

/** A change of files, with its diffs. */
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
