import type { Row } from "./build-rows.ts";

/** The height of a row before it was measured. Close ones make the scroll bar calm; the reader never sees a wrong one. */
export function estimateHeight(row: Row): number {
  switch (row.kind) {
    case "turn":
      return 48;
    case "footer":
      return 36;
    case "block":
      return 44;
    case "work":
      return 36;
    case "approval":
      return 160;
    case "notice":
      return 52;
    case "item":
      return row.item.kind === "commandExecution" ? 120 : 52;
  }
}
