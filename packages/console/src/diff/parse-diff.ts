import { DiffRows } from "./diff-rows.ts";
import { readGitPath } from "./git-path.ts";

export type FileKind = "added" | "deleted" | "changed" | "renamed";

export interface DiffFile {
  readonly path: string;
  /** The former path of a renamed file. */
  readonly oldPath: string | null;
  readonly kind: FileKind;
  readonly added: number;
  readonly removed: number;
  /** Rows from `firstRow` to before `endRow`. */
  readonly firstRow: number;
  readonly endRow: number;
  /** Rows that are the headings of hunks. */
  readonly hunks: readonly number[];
  /** The turn that changed the file, if the diff is of several turns. */
  readonly turn: string | null;
}

export interface ParsedDiff {
  readonly files: readonly DiffFile[];
  readonly rows: DiffRows;
}

/** A change of a file in an approval: a unified diff, or the contents of an added or deleted file. */
export interface FileChange {
  readonly path: string;
  readonly kind: string;
  readonly diff: string;
}

/** Lines between two pauses of a parser that runs in slices. */
const LINES_PER_STEP = 2_000;

type Parser = Generator<undefined, ParsedDiff, undefined>;

/** Parses a unified diff of any number of files. The generator pauses regularly, so that the caller can let the page draw. */
export function* parseDiff(text: string): Parser {
  const builder = new DiffBuilder();
  yield* builder.addDiff(text, 0);
  return builder.finish(text);
}

/** Parses the changes of an approval. */
export function* parseChanges(changes: readonly FileChange[]): Parser {
  const builder = new DiffBuilder();
  const texts: string[] = [];
  let offset = 0;
  for (const { path, kind, diff } of changes) {
    const fileKind = kind === "add" ? "added" : kind === "delete" ? "deleted" : "changed";
    builder.startFile(path, fileKind);
    // Contents are never parsed as a diff, because a forged heading could hide lines of the file.
    if (fileKind === "changed") yield* builder.addDiff(diff, offset);
    else yield* builder.addContents(diff, offset, fileKind);
    builder.endFile();
    texts.push(diff);
    offset += diff.length;
  }
  return builder.finish(texts.join(""));
}

/** Parses the diffs of several turns, oldest first. A file that several turns changed is in the result several times. */
export function* parseTurns(turns: readonly { readonly title: string; readonly diff: string }[]): Parser {
  const builder = new DiffBuilder();
  let offset = 0;
  for (const { title, diff } of turns) {
    builder.startTurn(title);
    yield* builder.addDiff(diff, offset);
    builder.endFile();
    offset += diff.length;
  }
  return builder.finish(turns.map(({ diff }) => diff).join(""));
}

/** Runs a parser to its end without pauses. */
export function runParser(parser: Parser): ParsedDiff {
  for (;;) {
    const step = parser.next();
    if (step.done === true) return step.value;
  }
}

interface OpenFile {
  path: string;
  oldPath: string | null;
  kind: FileKind;
  added: number;
  removed: number;
  firstRow: number;
  hunks: number[];
  /** Whether the path comes from the approval, so that headings of the diff don't change it. */
  isNamed: boolean;
}

interface OpenHunk {
  oldLine: number;
  newLine: number;
  /** Remaining lines of the hunk. Infinity if the heading has no counts. */
  oldLeft: number;
  newLeft: number;
}

class DiffBuilder {
  readonly #rows = new DiffRows();
  readonly #files: DiffFile[] = [];
  #file: OpenFile | null = null;
  #hunk: OpenHunk | null = null;
  #turn: string | null = null;

  /** Files that follow belong to this turn. */
  startTurn(title: string): void {
    this.#turn = title;
  }

  startFile(path: string, kind: FileKind, isNamed = true): void {
    this.endFile();
    this.#file = {
      path,
      oldPath: null,
      kind,
      added: 0,
      removed: 0,
      firstRow: this.#rows.count,
      hunks: [],
      isNamed,
    };
  }

  endFile(): void {
    this.#hunk = null;
    if (!this.#file) return;
    const { isNamed: _, ...file } = this.#file;
    this.#files.push({ ...file, endRow: this.#rows.count, turn: this.#turn });
    this.#file = null;
  }

  finish(text: string): ParsedDiff {
    this.endFile();
    this.#rows.setText(text);
    return { files: this.#files, rows: this.#rows };
  }

  /** Adds every line of an added or deleted file. */
  *addContents(text: string, offset: number, kind: "added" | "deleted"): Generator<undefined, void> {
    const file = this.#file;
    if (!file) return;
    let line = 0;
    for (const [start, end] of lineRanges(text)) {
      line += 1;
      const isAdded = kind === "added";
      this.#rows.push(
        isAdded ? "added" : "removed",
        offset + start,
        offset + end,
        isAdded ? 0 : line,
        isAdded ? line : 0,
      );
      if (line % LINES_PER_STEP === 0) yield;
    }
    if (kind === "added") file.added = line;
    else file.removed = line;
  }

  *addDiff(text: string, offset: number): Generator<undefined, void> {
    let count = 0;
    for (const [start, end] of lineRanges(text)) {
      if (!this.#addHunkLine(text, start, end, offset)) this.#addOtherLine(text, start, end, offset);
      count += 1;
      if (count % LINES_PER_STEP === 0) yield;
    }
  }

  /** Whether the line belongs to the open hunk. */
  #addHunkLine(text: string, start: number, end: number, offset: number): boolean {
    const [file, hunk] = [this.#file, this.#hunk];
    if (!file || !hunk) return false;
    // An editor may have removed the space of an empty context line.
    const sign = start === end ? " " : text.charAt(start);
    const from = offset + Math.min(start + 1, end);
    if (sign === "\\") {
      this.#rows.push("note", offset + start, offset + end, 0, 0);
      return true;
    }
    if (sign === "+" && hunk.newLeft > 0) {
      this.#rows.push("added", from, offset + end, 0, hunk.newLine);
      hunk.newLine += 1;
      hunk.newLeft -= 1;
      file.added += 1;
      return true;
    }
    if (sign === "-" && hunk.oldLeft > 0) {
      this.#rows.push("removed", from, offset + end, hunk.oldLine, 0);
      hunk.oldLine += 1;
      hunk.oldLeft -= 1;
      file.removed += 1;
      return true;
    }
    if (sign === " " && hunk.oldLeft > 0 && hunk.newLeft > 0) {
      this.#rows.push("context", from, offset + end, hunk.oldLine, hunk.newLine);
      hunk.oldLine += 1;
      hunk.newLine += 1;
      hunk.oldLeft -= 1;
      hunk.newLeft -= 1;
      return true;
    }
    this.#hunk = null;
    return false;
  }

  /** Adds a heading or any other line between hunks. */
  #addOtherLine(text: string, start: number, end: number, offset: number): void {
    const line = text.slice(start, Math.min(end, start + 4_096));
    if (line.startsWith("diff --git ") && this.#file?.isNamed !== true) {
      this.startFile(pathOfHeading(line), "changed", false);
      return;
    }
    if (line.startsWith("@@")) {
      if (!this.#file) this.startFile("", "changed", false);
      this.#openHunk(line);
      this.#file?.hunks.push(this.#rows.count);
      this.#rows.push(
        "hunk",
        offset + start,
        offset + end,
        this.#hunk?.oldLine ?? 0,
        this.#hunk?.newLine ?? 0,
      );
      return;
    }
    if (this.#readHeading(line) || line === "") return;
    if (!this.#file) this.startFile("", "changed", false);
    this.#rows.push("note", offset + start, offset + end, 0, 0);
  }

  #openHunk(line: string): void {
    const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = match ?? [];
    this.#hunk = match
      ? {
          oldLine: Number(oldStart),
          newLine: Number(newStart),
          oldLeft: Number(oldCount),
          newLeft: Number(newCount),
        }
      : { oldLine: 1, newLine: 1, oldLeft: Number.POSITIVE_INFINITY, newLeft: Number.POSITIVE_INFINITY };
  }

  /** Whether the line is a heading of a file that has no hunk yet. */
  #readHeading(line: string): boolean {
    if (line.startsWith("--- ")) {
      // A diff without `diff --git` lines: the next file begins here.
      if (!this.#file?.isNamed && (!this.#file || this.#file.hunks.length > 0))
        this.startFile("", "changed", false);
      const file = this.#file;
      if (!file || file.hunks.length > 0) return false;
      if (line === "--- /dev/null") file.kind = "added";
      else if (!file.isNamed && file.path === "") file.path = readGitPath(line.slice(4), "a/");
      return true;
    }
    const file = this.#file;
    if (!file || file.hunks.length > 0) return false;
    if (line.startsWith("+++ ")) {
      if (line === "+++ /dev/null") file.kind = "deleted";
      else if (!file.isNamed) file.path = readGitPath(line.slice(4), "b/");
      return true;
    }
    if (file.isNamed) return false;
    if (line.startsWith("rename from ")) {
      file.oldPath = readGitPath(line.slice(12), "");
      file.kind = "renamed";
      return true;
    }
    if (line.startsWith("rename to ")) {
      file.path = readGitPath(line.slice(10), "");
      return true;
    }
    if (line.startsWith("new file mode ")) file.kind = "added";
    else if (line.startsWith("deleted file mode ")) file.kind = "deleted";
    else return /^(?:index [0-9a-f]+\.\.|similarity index |dissimilarity index )/.test(line);
    return true;
  }
}

/** The path of `diff --git a/x b/x`. Later headings replace it; only changes without them keep it. */
function pathOfHeading(line: string): string {
  const rest = line.slice("diff --git ".length);
  const [, same] = /^a\/(.+) b\/\1$/.exec(rest) ?? [];
  if (same !== undefined) return same;
  const half = / ("?b\/.+)$/.exec(rest)?.[1];
  return readGitPath(half ?? rest, "b/");
}

/** Yields start and end of each line, without the line break. A trailing line break starts no further line. */
function* lineRanges(text: string): Generator<readonly [start: number, end: number]> {
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    yield [start, end];
    start = end + 1;
  }
}
