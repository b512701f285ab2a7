/**
 * Escape sequences: CSI, strings such as titles and hyperlinks, and the short ones. Unlike that of `node:util`, it takes time
 * in proportion to the text, also for sequences without an end.
 */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** C0 and C1 controls but tab and line feed. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * Characters that change the direction of text, or have no width: they can hide what a command does. A variation selector of
 * an emoji is not one of them.
 */
const INVISIBLE = /(?!\ufe0f)[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** A joiner between two emoji parts is a part of the picture. */
const JOINED_EMOJI =
  /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/gu;

/** Stands for a joiner while invisible characters are replaced. Not a character that text can contain after `CONTROLS`. */
const JOINER_MARK = "\u0001";

/**
 * Makes text from the model or a command harmless for a terminal: no escape sequence, no control character, no change of
 * direction is left. A carriage return moves to the start of the line, as a progress bar wants it: the last part stays.
 */
export function sanitizeText(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines
    .map((line) => removeControls(line.slice(line.lastIndexOf("\r", line.length - 2) + 1)))
    .join("\n");
}

/** The same for commands, paths, names, rules and offers, which a person decides about: what `sanitizeText` removes is visible as an escape. */
export function revealText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(CONTROLS, escapeCharacter)
    .replace(JOINED_EMOJI, JOINER_MARK)
    .replace(INVISIBLE, escapeCharacter)
    .replaceAll(JOINER_MARK, "\u200d");
}

/** The same in one line. A line break stays visible, because it separates commands. */
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
