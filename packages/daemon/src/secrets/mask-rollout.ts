import { escapedForms } from "./escaped-forms.ts";

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const ASTERISK = 0x2a;
const BACKSLASH = 0x5c;

/** Secrets to mask in the lines of one call. They may be too short to be masked everywhere. */
export interface CallSecrets {
  readonly callId: string;
  readonly secrets: readonly string[];
}

/** A secret as it is written in a file, at one level of JSON. */
interface WrittenForm {
  readonly bytes: Buffer;
  /** Number of bytes at both ends that are kept. */
  readonly quoteBytes: number;
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
  const everywhere = secrets.flatMap((secret) => writtenForms(secret));
  const ofCalls = calls.map(({ callId, secrets: texts }) => ({
    callId,
    // Matched with their quotes, as complete strings, because a short secret may occur in other texts.
    forms: texts.flatMap((text) => writtenForms(JSON.stringify(text), '"')),
  }));
  const masked = Buffer.from(data);
  for (let start = 0; start < masked.length;) {
    const newline = masked.indexOf(NEWLINE, start);
    const line = masked.subarray(start, newline < 0 ? masked.length : newline);
    start += line.length + 1;
    const ofLine = ofCalls.filter(({ callId }) => line.includes(callId)).flatMap(({ forms }) => forms);
    maskLine(line, [...everywhere, ...ofLine]);
  }
  return masked;
}

function writtenForms(secret: string, quote = ""): WrittenForm[] {
  const quotes = escapedForms(quote);
  const forms = escapedForms(secret).map((form, level) => ({
    bytes: Buffer.from(form),
    quoteBytes: quotes[level]?.length ?? 0,
  }));
  // The file contains the secret as it is only if it has no characters that are escaped.
  return forms.length === 1 ? forms : forms.slice(1);
}

/**
 * Masks the forms in one pass from left to right. A regular expression for strings would exceed the stack at some
 * megabytes, and one with many long secrets would be too large to compile.
 */
function maskLine(line: Buffer, forms: readonly WrittenForm[]): void {
  let hits = forms
    .map((form) => ({ form, at: line.indexOf(form.bytes) }))
    .filter(({ at, form }) => at >= 0 && form.bytes.length > 0);
  if (hits.length === 0) return;
  // Secrets may overlap, so all are searched for in the original.
  const original = Buffer.from(line);
  const position = new StringPosition(original);
  while (hits.length > 0) {
    const next = hits.reduce((first, hit) => (hit.at < first.at ? hit : first));
    const { form, at } = next;
    // A match in the middle of an escape sequence is a different text.
    const isSecret = position.isInString(at);
    if (isSecret) line.fill(ASTERISK, at + form.quoteBytes, at + form.bytes.length - form.quoteBytes);
    next.at = original.indexOf(form.bytes, at + (isSecret ? form.bytes.length : 1));
    if (next.at < 0) hits = hits.filter((hit) => hit !== next);
  }
}

/** Reads a line of JSON forwards to find out where its strings are. */
class StringPosition {
  readonly #line: Buffer;
  #at = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(line: Buffer) {
    this.#line = line;
  }

  /** Whether a string contains the offset, and no escape sequence begins before it and ends after it. */
  isInString(offset: number): boolean {
    for (; this.#at < offset; this.#at += 1) {
      const byte = this.#line[this.#at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#isInString = !this.#isInString;
      else this.#isEscaped = this.#isInString && byte === BACKSLASH;
    }
    return this.#isInString && !this.#isEscaped;
  }
}
