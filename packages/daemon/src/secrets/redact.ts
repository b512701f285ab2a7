const REDACTED = "[redacted]";

/**
 * Variables whose values are not secret and are often the cause of a problem. For all others, only the name is
 * included.
 */
const SHOWN_VARIABLES =
  /^(?:CODEX_HOME|CODEX_SANDBOX\w*|CI|HOME|LANG|LC_\w+|LANGUAGE|LOGNAME|NODE_ENV|NODE_VERSION|NO_COLOR|PATH|PWD|RUST_LOG|RUST_BACKTRACE|SHELL|SSL_CERT_(?:FILE|DIR)|TERM|TMPDIR|TZ|USER|XDG_\w+)$/;

/** Formats that identify a text as a secret. */
const SECRET_FORMS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // Keys and tokens of common services and of the daemon.
  [/\b(?:sk|pk|rk)(?:-|_live_|_test_)[\w-]{8,}/g, REDACTED],
  [/\bAIza[\w-]{30,}/g, REDACTED],
  [/\b(?:ckd|whsec|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs])[_-][\w+/=-]{8,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?/g, REDACTED],
  // The password in a URL.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"]*:)[^\s/@"]+(@)/gi, `$1${REDACTED}$2`],
  [/(\b(?:Bearer|Basic)\s+)[\w+/=.~-]{8,}/gi, `$1${REDACTED}`],
  // Fields and options with a name that indicates a secret. Quotes may be escaped, because texts are often JSON inside
  // JSON.
  [
    /((?:api[_-]?key|access[_-]?key|secret|token|password|passwd|authorization|credential|[_-](?:pw|pwd|pass))s?\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted\]|null|true|false|\d{1,9}\b|[{[])[^\s"',;&\\}\]]{4,}/gi,
    `$1${REDACTED}`,
  ],
];

/** Shorter values are probably words, and redacting them would remove parts of ordinary texts. */
const MIN_SECRET = 8;

/** Removes known secrets, and text that looks like one, from texts and JSON values. */
export class Redactor {
  readonly #secrets: readonly string[];

  constructor(secrets: Iterable<string>) {
    const known = new Set<string>();
    for (const secret of secrets) {
      if (secret.length < MIN_SECRET) continue;
      known.add(secret);
      // The escaped form, which occurs in JSON.
      known.add(JSON.stringify(secret).slice(1, -1));
    }
    // A secret may contain another one, so longer ones are replaced first.
    this.#secrets = [...known].toSorted((a, b) => b.length - a.length);
  }

  text(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, REDACTED);
    for (const [form, replacement] of SECRET_FORMS) clean = clean.replaceAll(form, replacement);
    return clean;
  }

  /** Redacts a JSON value. Property names are kept. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((entry) => this.value(entry));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        typeof member === "string" && isSecretMember(name) ? REDACTED : this.value(member),
      ]),
    );
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
