import { CodexError } from "../errors.ts";
import { type ConfigValue, tomlLiteral } from "./toml-literal.ts";

/**
 * Settings of Codex's `config.toml`, as an object. A key may be a dotted path (`"features.plugins"`). Tables are laid
 * over those of the file, not put in their place.
 */
export type CodexConfigObject = { readonly [key: string]: ConfigValue | undefined };

/**
 * The `key=value` pairs, one for each `-c`, in the order of the object. Codex takes a value that is not TOML for a plain
 * string without a word, so the value must be right; and it splits the key at every dot, quoted or not, so nested
 * tables are written in the value.
 */
export function configOverrides(config: CodexConfigObject): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (!isDottedKey(key)) {
      throw new CodexError(
        "invalid_argument",
        `config: ${JSON.stringify(key)} is not a setting's name; expected names of letters, digits, _ and -, joined by dots.`,
      );
    }
    return [`${key}=${tomlLiteral(value, key)}`];
  });
}

/** Checks a `key=value` that someone wrote by hand; the value is theirs to get right. */
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
