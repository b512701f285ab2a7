/** A comment of a person on a line of a diff. */
export interface LineComment {
  readonly id: number;
  readonly path: string;
  readonly side: "old" | "new";
  readonly line: number;
  /** The text of the line, so that the comment can be understood after the file has changed. */
  readonly code: string;
  readonly text: string;
}

/** Maximum number of characters of a line that are quoted. */
const QUOTED_CHARACTERS = 200;

/** All comments as one message for the agent, in the order of files and lines. */
export function toMessage(comments: readonly LineComment[]): string {
  const sorted = comments.toSorted(
    (one, other) => one.path.localeCompare(other.path) || one.line - other.line || one.id - other.id,
  );
  const intro =
    comments.length === 1 ? "A comment on your changes:" : `${comments.length} comments on your changes:`;
  const blocks = sorted.map(({ path, side, line, code, text }) => {
    const where = `${path}:${line}${side === "old" ? " (removed line)" : ""}`;
    return `${where}\n> ${code.slice(0, QUOTED_CHARACTERS)}\n${text.trim()}`;
  });
  return [intro, ...blocks].join("\n\n");
}
