import type { v2 } from "codexkit";
import { sep } from "node:path";
import { revealText } from "../terminal/sanitize.ts";
import type { Style } from "../terminal/style.ts";

/** Maximum number of lines per file that are printed while a turn runs. Approvals show more. */
const FILE_LINES = 40;

const KINDS = { add: "added", delete: "deleted", update: "changed" } as const;

interface DiffOptions {
  /** Paths below this folder are shown relative to it. */
  readonly cwd: string;
  /** Maximum number of lines per file. */
  readonly limit?: number;
}

/** Formats the changes of a patch, with coloured diffs. */
export function formatChanges(
  changes: readonly v2.FileUpdateChange[],
  style: Style,
  { cwd, limit = FILE_LINES }: DiffOptions,
): string[] {
  return changes.flatMap(({ path, kind, diff }) => {
    const moved =
      kind.type === "update" && kind.move_path ? ` → ${revealText(shorten(kind.move_path, cwd))}` : "";
    const lines = toDiffLines(kind.type, revealText(diff));
    const shown = lines.slice(0, limit).map((line) => `  ${paintLine(line, style)}`);
    const cut =
      lines.length > shown.length ? [style.dim(`  … ${lines.length - shown.length} more lines`)] : [];
    return [
      `${style.cyan("±")} ${style.bold(revealText(shorten(path, cwd)) + moved)} ${style.dim(KINDS[kind.type])}`,
      ...shown,
      ...cut,
    ];
  });
}

/** Formats a unified diff of several files in colour. */
export function formatUnifiedDiff(diff: string, style: Style): string[] {
  return revealText(diff.trimEnd())
    .split("\n")
    .map((line) => paintLine(line, style));
}

/** For added and deleted files, Codex sends the contents instead of a diff. */
function toDiffLines(kind: v2.FileUpdateChange["kind"]["type"], diff: string): string[] {
  const lines = diff.trimEnd().split("\n");
  if (kind === "update" || lines.some((line) => line.startsWith("@@ "))) return lines;
  return lines.map((line) => (kind === "add" ? "+" : "-") + line);
}

function paintLine(line: string, style: Style): string {
  if (/^(?:diff |index |--- |\+\+\+ )/.test(line)) return style.bold(line);
  if (line.startsWith("+")) return style.green(line);
  if (line.startsWith("-")) return style.red(line);
  return line.startsWith("@@") ? style.cyan(line) : line;
}

function shorten(path: string, cwd: string): string {
  return path.startsWith(cwd + sep) ? path.slice(cwd.length + 1) : path;
}
