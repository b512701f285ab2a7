import { CodexError } from "../errors.ts";
import { type ConfigValue, toTomlLiteral } from "./toml-literal.ts";

/**
 * Settings of Codex's `config.toml`, as an object. A key can be a dotted path (`"features.plugins"`). Tables are merged with
 * those of the file.
 */
export type CodexConfigObject = { readonly [key: string]: ConfigValue | undefined };

/**
 * Converts settings to `key=value` pairs, one per `-c`. Codex silently treats a value that is not TOML as a string, so the value
 * must be valid. It splits the key at every dot, even inside quotes, so nested tables are written in the value.
 */
export function toConfigOverrides(config: CodexConfigObject): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (!isDottedKey(key)) {
      throw new CodexError(
        "invalid_argument",
        `config: ${JSON.stringify(key)} is not a valid key. Expected letters, digits, _ and -, separated by dots.`,
      );
    }
    return [`${key}=${toTomlLiteral(value, key)}`];
  });
}

/** Checks that an override has the form `key=value`. The value is not checked. */
export function checkOverride(override: string): string {
  const equals = override.indexOf("=");
  if (equals > 0 && override.slice(0, equals).trim() !== "" && !override.includes("\0")) return override;
  throw new CodexError(
    "invalid_argument",
    `configOverrides: ${JSON.stringify(override)} is not key=value, such as model="gpt-5.5".`,
  );
}

function isDottedKey(key: string): boolean {
  return /^[\w-]+(?:\.[\w-]+)*$/.test(key);
}
