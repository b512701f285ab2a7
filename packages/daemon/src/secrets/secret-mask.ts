import type { SessionSetup } from "../api/settings.ts";
import { isSecretName } from "./redact.ts";

/** Shorter values are words rather than secrets, and would remove parts of ordinary texts. */
const MIN_SECRET = 8;
/** Headers that every request has. Their values occur in ordinary texts. */
const ORDINARY_HEADERS =
  /^(?:accept(?:-\w+)?|content-type|cache-control|connection|host|origin|user-agent)$/i;
/** A path or one word. */
const ORDINARY_VALUE = /^(?:~?\/[\w./ -]*|[a-z]+)$/i;

/** Replaces the secrets of a session's setup in what is stored about it: every client that may read gets that. */
export class SecretMask {
  readonly #secrets: readonly string[];
  /** As they stand inside JSON. */
  readonly #inJson: readonly string[];

  private constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
    this.#inJson = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  }

  /** Undefined if the setup has no secrets. */
  static of(setup: SessionSetup): SecretMask | undefined {
    const secrets = setupSecrets(setup);
    return secrets.length === 0 ? undefined : new SecretMask(secrets);
  }

  /** A JSON text without the secrets. */
  json(text: string): string {
    if (!this.#inJson.some((secret) => text.includes(secret))) return text;
    // Only in strings: a secret of digits may be a part of a number too.
    const mask = (_name: string, value: unknown) => (typeof value === "string" ? this.#mask(value) : value);
    return JSON.stringify(JSON.parse(text, mask));
  }

  #mask(text: string): string {
    let masked = text;
    // Of the same length, so that offsets of deltas stay valid.
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, "*".repeat(secret.length));
    return masked;
  }
}

/**
 * The values of a setup that only the creator of the session knows, the longest first, because one may contain another. Values
 * that are paths, single words or shorter than eight characters are secret only if their name says so, or not at all.
 */
export function setupSecrets({ mcpServers, environment, tools }: SessionSetup): readonly string[] {
  const secrets = new Set<string>();
  const add = (value: string): void => {
    if (value.length >= MIN_SECRET) secrets.add(value);
  };
  const addUrl = (url: string): void => {
    for (const value of urlSecrets(url)) add(value);
    const { search } = new URL(url);
    // With its question mark, a short query is not mistaken for another text.
    if (search.length > 1) secrets.add(search);
  };
  for (const server of Object.values(mcpServers ?? {})) {
    if ("command" in server) {
      for (const [name, value] of Object.entries(server.env ?? {})) {
        if (isSecretName(name) || !ORDINARY_VALUE.test(value)) add(value);
      }
      continue;
    }
    addUrl(server.url);
    for (const [name, value] of Object.entries(server.headers ?? {})) {
      if (ORDINARY_HEADERS.test(name)) continue;
      add(value);
      // What follows the scheme, such as `Bearer`.
      add(value.slice(value.indexOf(" ") + 1));
    }
  }
  if (environment) addUrl(environment.url);
  add(environment?.token ?? "");
  for (const { url, secret } of tools ?? []) {
    addUrl(url);
    add(secret ?? "");
  }
  return [...secrets].toSorted((a, b) => b.length - a.length);
}

/** Whether a URL has something that only its owner knows. */
export function hasUrlSecrets(url: string): boolean {
  const { username, password, search } = new URL(url);
  return username + password + search !== "";
}

/** Without its query, user and password. */
export function withoutUrlSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** The values of the query, the user and the password, as written and decoded. */
function urlSecrets(url: string): string[] {
  const { username, password, search, searchParams } = new URL(url);
  const written = search.slice(1).split("&");
  return [
    ...written.map((part) => part.slice(part.indexOf("=") + 1)),
    ...searchParams.values(),
    ...[username, password].flatMap((part) => [part, decode(part)]),
  ];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
