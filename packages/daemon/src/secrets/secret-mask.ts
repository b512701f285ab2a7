import type { SessionSetup } from "../api/settings.ts";
import { escapedForms } from "./escaped-forms.ts";
import { findCommandPasswords } from "./command-passwords.ts";
import { findSecrets, isSecretName } from "./redact.ts";

/** Shorter values are probably words, and masking them would remove parts of ordinary texts. */
const MIN_SECRET = 8;
/** Headers that every request has. Their values occur in ordinary texts. */
const ORDINARY_HEADERS =
  /^(?:accept(?:-\w+)?|content-type|cache-control|connection|host|origin|user-agent)$/i;
/** A path or a single word. */
const ORDINARY_VALUE = /^(?:~?\/[\w./ -]*|[a-z]+)$/i;

/**
 * Masks the secrets of a session's setup in everything that is stored about the session, because every client with read
 * access receives it.
 */
export class SecretMask {
  /** In all forms that occur in texts, which may be JSON themselves. */
  readonly #secrets: readonly string[];
  /** The same, as a part of the JSON that contains the text. */
  readonly #inJson: readonly string[];

  private constructor(secrets: readonly string[]) {
    // Longer ones first, because one may contain another.
    this.#secrets = [...new Set(secrets.flatMap(escapedForms))].toSorted((a, b) => b.length - a.length);
    this.#inJson = this.#secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  }

  /** Returns undefined if the setup has no secrets. */
  static of(setup: SessionSetup): SecretMask | undefined {
    return SecretMask.ofSecrets(setupSecrets(setup));
  }

  /** Returns undefined if there are no secrets. */
  static ofSecrets(secrets: readonly string[]): SecretMask | undefined {
    return secrets.length === 0 ? undefined : new SecretMask(secrets);
  }

  /** Masks the secrets in a text. */
  text(text: string): string {
    return this.#mask(text);
  }

  /** Masks the secrets in a JSON text. */
  json(text: string): string {
    if (!this.#inJson.some((secret) => text.includes(secret))) return text;
    // Only in strings, because digits of a secret may also occur in a number.
    const mask = (_name: string, value: unknown) => (typeof value === "string" ? this.#mask(value) : value);
    return JSON.stringify(JSON.parse(text, mask));
  }

  #mask(text: string): string {
    let masked = text;
    // Replaced by text of the same length, so that offsets of deltas stay valid.
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, "*".repeat(secret.length));
    return masked;
  }
}

/**
 * Returns the values of a setup that only the session's creator knows. The longest come first, because one may contain
 * another. Paths, single words and values shorter than eight characters are only secret if their name indicates it, or
 * not at all.
 */
export function setupSecrets({ mcpServers, environment, tools }: SessionSetup): readonly string[] {
  const secrets = new Set<string>();
  const add = (value: string): void => {
    if (value.length >= MIN_SECRET) secrets.add(value);
    if (!value.includes("\n")) return;
    // A terminal changes the line ends, and a command may print only a part of a key. Lines with spaces are probably
    // not a part of a secret.
    for (const line of value.split(/\r?\n/)) if (isUnusual(line) && !line.includes(" ")) secrets.add(line);
  };
  const addUrl = (url: string): void => {
    for (const value of urlSecrets(url)) add(value);
    const { search } = new URL(url);
    // Including the question mark, because a short query could occur in other texts.
    if (search.length > 1) secrets.add(search);
  };
  const addParts = (text: string): void => {
    for (const value of findSecrets(text)) add(value);
    for (const url of urlsOf(text)) addUrl(url);
  };
  for (const server of Object.values(mcpServers ?? {})) {
    if ("command" in server) {
      for (const [name, value] of Object.entries(server.env ?? {})) {
        if (isSecretName(name) || !ORDINARY_VALUE.test(value)) add(value);
        addParts(value);
      }
      const args = server.args ?? [];
      for (const value of secretArguments(args)) add(value);
      for (const arg of args) addParts(arg);
      for (const value of commandSecrets(server.command, args)) add(value);
      continue;
    }
    addUrl(server.url);
    for (const [name, value] of Object.entries(server.headers ?? {})) {
      if (ORDINARY_HEADERS.test(name)) continue;
      add(value);
      // The part after the scheme, such as `Bearer`.
      add(value.slice(value.indexOf(" ") + 1));
    }
  }
  if (environment) addUrl(environment.url);
  add(environment?.token ?? "");
  add(environment?.secret ?? "");
  for (const { url, secret } of tools ?? []) {
    addUrl(url);
    add(secret ?? "");
  }
  return [...secrets].toSorted((a, b) => b.length - a.length);
}

/** Whether a server's configuration contains a value that only its creator knows, or that looks like one. */
export function hasSecrets(server: NonNullable<SessionSetup["mcpServers"]>[string]): boolean {
  if (!("command" in server)) return server.headers !== undefined || hasUrlSecrets(server.url);
  const { command, env, args = [] } = server;
  return (
    env !== undefined ||
    secretArguments(args).length > 0 ||
    args.some(hasSecretForm) ||
    commandSecrets(command, args).length > 0
  );
}

/** Returns the values of options such as `--api-key`, passed as a separate argument or after an equals sign. */
export function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const [, name = "", value = args[index + 1]] = /^--?([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    return isSecretName(name) && value !== undefined ? [value] : [];
  });
}

/** Returns passwords that only the program gives away, as in `sshpass -p …`. */
function commandSecrets(command: string, args: readonly string[]): readonly string[] {
  const text = [command, ...args].join(" ");
  return Array.from(findCommandPasswords(text), ({ start, end }) => text.slice(start, end));
}

function hasSecretForm(arg: string): boolean {
  return (
    findSecrets(arg).length > 0 ||
    [arg, ...urlsOf(arg)].some((text) => URL.canParse(text) && hasUrlSecrets(text))
  );
}

/** Returns the argument, or the value of an option such as `--url=…`, if it is a URL with a host. */
function urlsOf(arg: string): string[] {
  const candidates = [arg, arg.slice(arg.indexOf("=") + 1)];
  return candidates.filter((text) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text)).slice(0, 1);
}

/**
 * Whether all occurrences of an answer can be replaced. Replacing a short answer, a path or a word would remove parts
 * of ordinary texts.
 */
export function isUnusual(answer: string): boolean {
  return answer.length >= MIN_SECRET && !ORDINARY_VALUE.test(answer);
}

/** Whether a URL contains a value that only its owner knows. */
export function hasUrlSecrets(url: string): boolean {
  const { username, password, search } = new URL(url);
  return username + password + search !== "";
}

/** Returns the URL without its query, user and password. */
export function withoutUrlSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Returns the query values, user and password, in raw and decoded form. */
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
