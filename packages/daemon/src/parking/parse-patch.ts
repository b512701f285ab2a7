/** What a patch does to one file. */
export interface PatchedFile {
  readonly kind: "add" | "delete" | "update";
  readonly path: string;
  readonly movedTo: string | undefined;
  /** Removed and added lines, in order. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

const FILE = /^\*\*\* (Add|Delete|Update) File: (\S|\S.*\S)$/;
const MOVE = /^\*\*\* Move to: (\S|\S.*\S)$/;
const KINDS = { Add: "add", Delete: "delete", Update: "update" } as const;

/**
 * Parses the files that a patch in the format of `apply_patch` changes. Undefined if the patch is not in the plain form. Codex also
 * accepts variants, such as markers with blanks around them, which this parser could interpret differently.
 */
export function parsePatch(text: string): readonly PatchedFile[] | undefined {
  const [begin, ...lines] = text.trimEnd().split("\n");
  if (begin !== "*** Begin Patch" || lines.pop() !== "*** End Patch") return undefined;
  const files: Draft[] = [];
  for (const line of lines) {
    const [, kind, path] = FILE.exec(line) ?? [];
    const file = files.at(-1);
    if (kind !== undefined && path !== undefined) {
      const fileKind = KINDS[kind as keyof typeof KINDS];
      files.push({ kind: fileKind, path, movedTo: undefined, removed: [], added: [] });
    } else if (!file || !addLine(file, line)) {
      return undefined;
    }
  }
  return files;
}

interface Draft extends PatchedFile {
  movedTo: string | undefined;
  readonly removed: string[];
  readonly added: string[];
}

/** Adds a line to the file. Returns false if the line is invalid there. */
function addLine(file: Draft, line: string): boolean {
  const isUpdate = file.kind === "update";
  const target = MOVE.exec(line)?.[1];
  if (target !== undefined && isUpdate && file.movedTo === undefined) {
    file.movedTo = target;
    return true;
  }
  if (line.startsWith("+") && file.kind !== "delete") return file.added.push(line.slice(1)) > 0;
  if (line.startsWith("-") && isUpdate) return file.removed.push(line.slice(1)) > 0;
  return isUpdate && isContext(line);
}

function isContext(line: string): boolean {
  if (line === "*** End of File" || line === "") return true;
  return /^(?: |@@)/.test(line) && !line.trimStart().startsWith("***");
}
