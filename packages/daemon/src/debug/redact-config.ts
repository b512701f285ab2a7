import { parse } from "smol-toml";
import { readFile } from "node:fs/promises";
import type { Redactor } from "../secrets/redact.ts";
import { hasUrlSecrets, secretArguments, withoutUrlSecrets } from "../secrets/secret-mask.ts";

/** Tables with arbitrary names and values: variables, headers, URL parameters. */
const VALUE_TABLES = /^(?:env|set|query_params|(?:\w+_)?headers)$/;
const REDACTED = "[redacted]";

/** Returns Codex's configuration file without secrets. Null if it does not exist. */
export async function readConfigFile(
  path: string,
  redactor: Redactor,
): Promise<Record<string, unknown> | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    return null;
  }
  return parseConfig(text, redactor);
}

/**
 * Parses an override such as `model="gpt-5.5"`, or a whole file. Omits text that can't be parsed, because it may
 * contain secrets.
 */
export function parseConfig(text: string, redactor: Redactor): Record<string, unknown> {
  try {
    return redactConfig(parse(text), redactor) as Record<string, unknown>;
  } catch {
    return { error: "It is not valid TOML.", characters: text.length };
  }
}

export function redactConfig(config: unknown, redactor: Redactor): unknown {
  return redactor.value(maskFreeValues(config));
}

function maskFreeValues(value: unknown): unknown {
  if (typeof value === "bigint" || value instanceof Date) return String(value);
  if (typeof value === "string") return maskUrl(value);
  if (Array.isArray(value)) {
    const texts = value.filter((entry) => typeof entry === "string");
    const secrets = secretArguments(texts).filter((text) => text !== "");
    return value.map((entry: unknown) =>
      typeof entry === "string" && secrets.some((text) => entry.endsWith(text))
        ? REDACTED
        : maskFreeValues(entry),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      VALUE_TABLES.test(name) ? maskAll(member) : maskFreeValues(member),
    ]),
  );
}

function maskAll(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
}

function maskUrl(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && URL.canParse(text) && hasUrlSecrets(text)
    ? withoutUrlSecrets(text)
    : text;
}
