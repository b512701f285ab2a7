import { CodexError } from "../errors.ts";

/** A value in Codex's configuration. Undefined members are omitted. */
export type ConfigValue =
  | string
  | number
  | bigint
  | boolean
  | readonly ConfigValue[]
  | { readonly [key: string]: ConfigValue | undefined };

/** Deeper than any configuration. Catches cycles. */
const MAX_DEPTH = 64;

/**
 * Writes a value as TOML on one line, for `-c key=value`. `smol-toml` writes whole documents only, does not name the invalid
 * value in its errors, and takes 9 ms to import.
 *
 * @param name The value's path, for error messages.
 */
export function toTomlLiteral(value: unknown, name: string, depth = 0): string {
  if (depth > MAX_DEPTH) throw invalidValue(name, "is nested too deeply or contains itself");
  switch (typeof value) {
    case "string":
      return tomlString(value, name);
    case "boolean":
      return String(value);
    case "bigint":
      if (BigInt.asIntN(64, value) !== value) throw invalidValue(name, "does not fit into 64 bits");
      return String(value);
    case "number":
      return tomlNumber(value, name);
    case "object":
      break;
    default:
      throw invalidValue(name, `is ${value === undefined ? "undefined" : `a ${typeof value}`}`);
  }
  if (value === null) throw invalidValue(name, "is null; omit the setting instead");
  if (Array.isArray(value)) {
    // Not `map`, which skips holes.
    const items = Array.from(value, (item: unknown, index) =>
      toTomlLiteral(item, `${name}[${index}]`, depth + 1),
    );
    return `[${items.join(", ")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw invalidValue(name, "is not a plain object");
  const members = Object.entries(value).flatMap(([key, member]: [string, unknown]) =>
    member === undefined
      ? []
      : [`${tomlKey(key, name)} = ${toTomlLiteral(member, `${name}.${key}`, depth + 1)}`],
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function tomlKey(key: string, name: string): string {
  return /^[\w-]+$/.test(key) ? key : tomlString(key, `a key of ${name}`);
}

function tomlString(text: string, name: string): string {
  if (!text.isWellFormed()) throw invalidValue(name, "contains a lone surrogate");
  // JSON escapes are valid TOML escapes. Only TOML requires DEL to be escaped.
  return JSON.stringify(text).replaceAll("\u007F", String.raw`\u007f`);
}

function tomlNumber(value: number, name: string): string {
  if (!Number.isFinite(value)) throw invalidValue(name, `is ${value}`);
  if (!Number.isInteger(value)) return String(value);
  if (Object.is(value, -0)) return "0";
  if (!Number.isSafeInteger(value)) throw invalidValue(name, `is ${value}, which is not exact; use a bigint`);
  return String(value);
}

function invalidValue(name: string, problem: string): CodexError {
  return new CodexError(
    "invalid_argument",
    `config: ${name} ${problem}. Codex's configuration (TOML) can't represent it.`,
  );
}
