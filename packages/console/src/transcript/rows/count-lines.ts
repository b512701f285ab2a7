import type { ThreadItemOf } from "../../feed/index.ts";

type Change = ThreadItemOf<"fileChange">["changes"][number];

/** Added and removed lines of a changed file. Codex sends the contents of new and deleted files instead of a diff. */
export function countLines({ kind, diff }: Change): { readonly added: number; readonly removed: number } {
  const lines = diff === "" ? [] : diff.replace(/\n$/, "").split("\n");
  if (kind.type === "add" && !diff.startsWith("@@")) return { added: lines.length, removed: 0 };
  if (kind.type === "delete" && !diff.startsWith("@@")) return { added: 0, removed: lines.length };
  return {
    added: lines.filter((line) => line.startsWith("+") && !line.startsWith("+++ ")).length,
    removed: lines.filter((line) => line.startsWith("-") && !line.startsWith("--- ")).length,
  };
}
