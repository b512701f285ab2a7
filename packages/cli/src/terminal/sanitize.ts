/**
 * Escape sequences: CSI, strings such as titles and hyperlinks, and the short ones. Unlike the expression of
 * `node:util`, it takes time proportional to the text, even for unterminated sequences.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** C0 and C1 controls except tab and line feed. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Characters that change the text direction or have no width: they can hide what a command does. The emoji
 * variation selector is allowed.
 */
const INVISIBLE = /(?!\ufe0f)[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** A joiner between two emoji, which makes them one picture. */
const JOINED_EMOJI =
  /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/gu;

/**
 * Placeholder for such a joiner while invisible characters are replaced. Text can't contain it after
 * `CONTROLS` has been applied.
 */
const JOINER_MARK = "\u0001";

/**
 * Makes text from the model or a command safe for a terminal: removes escape sequences, control characters
 * and direction changes. A carriage return moves to the start of the line, as progress bars expect, so only
 * the last part of the line is kept.
 */
export function sanitizeText(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line) => removeControls(line.slice(line.lastIndexOf("\r", line.length - 2) + 1)))
    .join("\n");
}

/**
 * Like `sanitizeText`, for commands, paths, names, rules and offers that the user decides about: what would
 * be removed is shown as an escape instead.
 */
export function revealText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, escapeCharacter)
    .replace(JOINED_EMOJI, JOINER_MARK)
    .replace(INVISIBLE, escapeCharacter)
    .replaceAll(JOINER_MARK, "\u200d");
}

/** Like `revealText`, in one line. A line break stays visible, because it separates commands. */
export function revealLine(text: string): string {
  return revealText(text).trim().replaceAll("\n", "⏎").replaceAll("\t", " ");
}

function removeControls(line: string): string {
  return line
    .replace(SEQUENCES, "")
    .replace(CONTROLS, "")
    .replace(JOINED_EMOJI, JOINER_MARK)
    .replace(INVISIBLE, "")
    .replaceAll(JOINER_MARK, "\u200d");
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x1_00) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x1_00_00 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}
