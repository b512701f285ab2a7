import { findCommandPasswords } from "./command-passwords.ts";
import { escapedForms } from "./escaped-forms.ts";

const REDACTED = "[redacted]";

/**
 * Variables whose values are not secret and are often the cause of a problem. For all others, only the name is
 * included.
 */
const SHOWN_VARIABLES =
  /^(?:CODEX_HOME|CODEX_SANDBOX\w*|CI|HOME|LANG|LC_\w+|LANGUAGE|LOGNAME|NODE_ENV|NODE_VERSION|NO_COLOR|PATH|PWD|RUST_LOG|RUST_BACKTRACE|SHELL|SSL_CERT_(?:FILE|DIR)|TERM|TMPDIR|TZ|USER|XDG_\w+)$/;

/**
 * Patterns of texts that are secrets. The text of the group `kept` is not part of the secret. Texts are untrusted, so a
 * pattern must take linear time: two attempts to match must not read the same characters. Formats for which
 * a pattern can't do that are in {@link findTokens}, {@link findUrlPasswords} and {@link findCommandPasswords} instead.
 */
const PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Keys and tokens of common services and of the daemon.
  /\b(?:sk|pk|rk)(?:-|_live_|_test_)[\w-]{8,}/g,
  /\bAIza[\w-]{30,}/g,
  /\b(?:ckd|whsec|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[_-][\w+/=-]{8,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(?<kept>\b(?:Bearer|Basic)\s+)[\w+/=.~-]{8,}/gi,
  // Fields and options with a name that indicates a secret. Quotes may be escaped, because texts are often JSON inside
  // JSON.
  /(?<kept>(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|authorization|credential|[_-](?:pw|pwd|pass))s?\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\]|null|true|false|\d{1,9}\b|[{[])[^\s"',;&\\}\]]{4,}/gi,
];

/** A secret part of a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** Shorter values are probably words, and redacting them would remove parts of ordinary texts. */
const MIN_SECRET = 8;

/**
 * Characters before the cut of a long text that are removed too. They may be the beginning of a secret whose format is
 * not recognised without its end.
 */
const CUT_MARGIN = 1024;

/** Removes known secrets, and text that looks like one, from texts and JSON values. */
export class Redactor {
  readonly #secrets: readonly string[];
  readonly #cutMargin: number;

  constructor(secrets: Iterable<string>) {
    const known = new Set<string>();
    for (const secret of secrets) {
      if (secret.length < MIN_SECRET) continue;
      for (const form of escapedForms(secret)) known.add(form);
    }
    // A secret may contain another one, so longer ones are replaced first.
    this.#secrets = [...known].toSorted((a, b) => b.length - a.length);
    // Twice, because the replacement of a part of a secret may be longer than that part.
    this.#cutMargin = Math.max(CUT_MARGIN, 2 * (this.#secrets[0]?.length ?? 0));
  }

  text(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, REDACTED);
    return replaceRanges(clean, findRanges(clean));
  }

  /**
   * Redacts a JSON value. Property names are kept.
   *
   * @param maxCharacters Longer texts are cut before they are redacted. Default: unlimited.
   */
  value(value: unknown, maxCharacters = Infinity): unknown {
    if (typeof value === "string") return this.#cutText(value, maxCharacters);
    if (Array.isArray(value)) return value.map((entry) => this.value(entry, maxCharacters));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        typeof member === "string" && isSecretMember(name) ? REDACTED : this.value(member, maxCharacters),
      ]),
    );
  }

  #cutText(text: string, maxCharacters: number): string {
    if (text.length <= maxCharacters) return this.text(text);
    const margin = this.#cutMargin;
    // Redacting makes the text shorter, so the margin is removed from its end and not after `maxCharacters`.
    const clean = this.text(text.slice(0, maxCharacters + margin)).slice(0, -margin);
    return `${clean.slice(0, maxCharacters)}… (${text.length} characters)`;
  }

  /** Returns the names of all variables, and the values of harmless ones. */
  environment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(env)
        .filter((entry): entry is [string, string] => entry[1] !== undefined)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => [name, SHOWN_VARIABLES.test(name) ? this.text(value) : REDACTED]),
    );
  }
}

/** Returns the parts of a text that look like secrets. */
export function findSecrets(text: string): string[] {
  return findRanges(text).map(({ start, end }) => text.slice(start, end));
}

/** Returns the parts of a text that look like secrets, in order and without overlaps. */
function findRanges(text: string): readonly Range[] {
  const found: Range[] = [];
  for (const pattern of PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      const end = match.index + match[0].length;
      found.push({ start: match.index + (match.groups?.["kept"]?.length ?? 0), end });
    }
  }
  for (const range of findTokens(text)) found.push(range);
  for (const range of findUrlPasswords(text)) found.push(range);
  for (const range of findCommandPasswords(text)) found.push(range);
  const merged: Range[] = [];
  for (const range of found.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (!last || range.start >= last.end) merged.push(range);
    else if (range.end > last.end) merged[merged.length - 1] = { start: last.start, end: range.end };
  }
  return merged;
}

/**
 * Finds JSON Web Tokens: `eyJ…`, a dot and a payload. A pattern would read the same characters again for each `eyJ` in
 * a long word.
 */
function* findTokens(text: string): Generator<Range> {
  for (let start = text.indexOf("eyJ"); start >= 0;) {
    const isWordStart = start === 0 || !/\w/.test(text.charAt(start - 1));
    if (!isWordStart) {
      start = text.indexOf("eyJ", start + 1);
      continue;
    }
    const headerEnd = endOf(WORD, text, start);
    const payloadEnd = text[headerEnd] === "." ? endOf(WORD, text, headerEnd + 1) : headerEnd;
    let next = headerEnd;
    if (headerEnd - start >= MIN_TOKEN_HEADER && payloadEnd - headerEnd > MIN_SECRET) {
      const signatureEnd = text[payloadEnd] === "." ? endOf(WORD, text, payloadEnd + 1) : payloadEnd;
      next = signatureEnd - payloadEnd > 1 ? signatureEnd : payloadEnd;
      yield { start, end: next };
    }
    // Later occurrences in the same word would fail too, because the word and what follows it are the same.
    start = text.indexOf("eyJ", next);
  }
}

/** Finds the passwords of URLs such as `postgres://user:password@host`. */
function* findUrlPasswords(text: string): Generator<Range> {
  // Reading stops at a slash, so two URLs don't read the same characters. The scheme is not read, because a pattern
  // would try every character of a long word as its start.
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 1)) {
    if (at === 0 || !/[a-z0-9+.-]/i.test(text.charAt(at - 1))) continue;
    const colon = endOf(URL_USER, text, at + "://".length);
    if (text[colon] !== ":") continue;
    const end = endOf(URL_PASSWORD, text, colon + 1);
    if (end > colon + 1 && text[end] === "@") yield { start: colon + 1, end };
  }
}

const WORD = /[\w-]*/y;
const URL_USER = /[^\s/:@"]*/y;
const URL_PASSWORD = /[^\s/@"]*/y;
/** `eyJ` and at least eight characters. */
const MIN_TOKEN_HEADER = 11;

/** Returns the end of the characters at a position that match a sticky pattern. */
function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return start + (pattern.exec(text)?.[0].length ?? 0);
}

function replaceRanges(text: string, ranges: readonly Range[]): string {
  let clean = "";
  let at = 0;
  for (const { start, end } of ranges) {
    clean += text.slice(at, start) + REDACTED;
    at = end;
  }
  return clean + text.slice(at);
}

/** Returns the values of an environment that are treated as secrets. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value === undefined || SHOWN_VARIABLES.test(name) || !isSecretName(name) ? [] : [value],
  );
}

/** Returns all strings in a value, for values that contain only secrets. */
export function allStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(allStrings);
}

/** Whether a JSON property is secret by its name. `key` is the idempotency key of a command. */
function isSecretMember(name: string): boolean {
  return /(?:api_?key|access_?key|private_?key|secret|token|password|passphrase|authorization|cookie|[_-](?:pw|pwd|pass))$/i.test(
    name,
  );
}

/** Whether a variable is secret by its name. */
export function isSecretName(name: string): boolean {
  return /key|token|secret|password|passwd|passphrase|pass$|(?:^|_)pwd?$|credential|authorization|cookie|auth$|dsn|_url$/i.test(
    name,
  );
}
