const NEWLINE = 10;
const STRING = /"(?:[^"\\]|\\.)*"/g;
/** A match that is preceded by an odd number of backslashes would start inside an escape sequence. */
const NOT_ESCAPED = String.raw`(?<!(?<!\\)(?:\\\\)*\\)`;
/** A call's arguments and output are JSON inside JSON, and may contain JSON themselves. */
const LEVELS = 3;

/** Secrets to mask in the lines of one call. They may be too short to be masked everywhere. */
export interface CallSecrets {
  readonly callId: string;
  readonly secrets: readonly string[];
}

/**
 * Copies a rollout without secrets. Each byte of a secret becomes an asterisk, because other rollouts refer to offsets
 * in this one. Only strings are changed, because digits of a secret may also occur in a number.
 */
export function maskRollout(
  data: Uint8Array,
  secrets: readonly string[],
  calls: readonly CallSecrets[],
): Uint8Array {
  if (secrets.length === 0 && calls.length === 0) return data;
  const everywhere = secrets.flatMap(writtenForms);
  const ofCalls = calls.map(({ callId, secrets: texts }) => ({
    callId,
    // Matched with their quotes, as complete strings, because a short secret may occur in other texts.
    forms: texts.flatMap((text) => writtenForms(JSON.stringify(text))),
  }));
  const masked = Buffer.from(data);
  for (let start = 0; start < masked.length;) {
    const newline = masked.indexOf(NEWLINE, start);
    const line = masked.subarray(start, newline < 0 ? masked.length : newline);
    start += line.length + 1;
    const ofLine = ofCalls.filter(({ callId }) => line.includes(callId)).flatMap(({ forms }) => forms);
    const found = [...everywhere, ...ofLine].filter((form) => line.includes(form, "latin1"));
    if (found.length > 0) line.write(maskStrings(line.toString("latin1"), found), "latin1");
  }
  return masked;
}

/** Returns the forms of the secret in a file, at several levels of JSON, with one character per byte of UTF-8. */
function writtenForms(secret: string): string[] {
  let form = secret;
  return Array.from({ length: LEVELS }, () => {
    form = JSON.stringify(form).slice(1, -1);
    return Buffer.from(form).toString("latin1");
  });
}

function maskStrings(line: string, forms: readonly string[]): string {
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length).map(escapePattern);
  const pattern = new RegExp(`${NOT_ESCAPED}(?:${longestFirst.join("|")})`, "g");
  return line.replaceAll(STRING, (text) => text.replaceAll(pattern, toAsterisks));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** Keeps the quotes around a secret of a call. */
function toAsterisks(secret: string): string {
  const [, open = "", close = ""] = /^(\\*"|).*?(\\*"|)$/s.exec(secret) ?? [];
  return `${open}${"*".repeat(secret.length - open.length - close.length)}${close}`;
}
