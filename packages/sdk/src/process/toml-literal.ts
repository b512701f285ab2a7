import { CodexError } from "../errors.ts";

/** What can be written in Codex's configuration. A member that is undefined is left out. */
export type ConfigValue =
  | string
  | number
  | bigint
  | boolean
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue | undefined };

/** Deeper than any configuration; a cycle meets it. */
const MAX_DEPTH = 64;

/** A value in TOML, on one line. `name` is its place, for the error about a value that TOML can't hold. */
export function tomlLiteral(value: unknown, name: string, depth = 0): string {
  if (depth > MAX_DEPTH) throw invalid(name, "is nested too deeply, or contains itself");
  switch (typeof value) {
    case "string":
      return tomlString(value, name);
    case "boolean":
      return String(value);
    case "bigint":
      if (BigInt.asIntN(64, value) !== value) throw invalid(name, "does not fit 64 bits");
      return String(value);
    case "number":
      return tomlNumber(value, name);
    case "object":
      break;
    default:
      throw invalid(name, `is ${value === undefined ? "undefined" : `a ${typeof value}`}`);
  }
  if (value === null) throw invalid(name, "is null; leave the setting out instead");
  if (Array.isArray(value)) {
    // Not `map`, which skips holes.
    const items = Array.from(value, (item: unknown, index) =>
      tomlLiteral(item, `${name}[${index}]`, depth + 1),
    );
    return `[${items.join(", ")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw invalid(name, "is not a plain object");
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
    member === undefined
      ? []
      : [`${tomlKey(key, name)} = ${tomlLiteral(member, `${name}.${key}`, depth + 1)}`],
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function tomlKey(key: string, name: string): string {
  return /^[\w-]+$/.test(key) ? key : tomlString(key, `a key of ${name}`);
}

function tomlString(text: string, name: string): string {
  if (!text.isWellFormed()) throw invalid(name, "has half of a surrogate pair, which is no character");
  // JSON's escapes are TOML's too; only DEL is a control character to TOML alone.
  return JSON.stringify(text).replaceAll("\u007F", String.raw`\u007f`);
}

function tomlNumber(value: number, name: string): string {
  if (!Number.isFinite(value)) throw invalid(name, `is ${value}`);
  if (!Number.isInteger(value)) return String(value);
  if (Object.is(value, -0)) return "0";
  if (!Number.isSafeInteger(value)) throw invalid(name, `is ${value}, which is not exact; use a bigint`);
  return String(value);
}

function invalid(name: string, why: string): CodexError {
  return new CodexError(
    "invalid_argument",
    `config: ${name} ${why}, and Codex's configuration (TOML) can't hold that.`,
  );
}
