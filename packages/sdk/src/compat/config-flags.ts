// Separate from the SDK's own TOML writer: this one accepts and rejects the same values as `@openai/codex-sdk`, with the same
// messages. The SDK's is stricter.

/** Converts a configuration object to `key=value` pairs with TOML values. Nested objects become dotted keys. */
export function toConfigFlags(config: unknown): string[] {
  if (!isTable(config)) throw new Error("Codex config overrides must be a plain object");
  return flatten(config, "");
}

/** Writes a value as TOML. `name` is its path, for error messages. */
export function toTomlValue(value: unknown, name: string): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      if (Number.isFinite(value)) return String(value);
      throw new Error(`Codex config override at ${name} must be a finite number`);
    default:
  }
  if (Array.isArray(value)) {
    const items = Array.from(value, (item: unknown, index) => toTomlValue(item, `${name}[${index}]`));
    return `[${items.join(", ")}]`;
  }
  if (value === null) throw new Error(`Codex config override at ${name} cannot be null`);
  if (!isTable(value)) {
    throw new Error(`Unsupported Codex config override value at ${name}: ${typeof value}`);
  }
  const members = listMembers(value).map(
    ([key, member]) => `${toTomlKey(key)} = ${toTomlValue(member, `${name}.${key}`)}`,
  );
  return `{${members.join(", ")}}`;
}

function flatten(table: object, prefix: string): string[] {
  return listMembers(table).flatMap(([key, value]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    if (!isTable(value)) return [`${name}=${toTomlValue(value, name)}`];
    return Object.keys(value).length === 0 ? [`${name}={}`] : flatten(value, name);
  });
}

function listMembers(table: object): [string, unknown][] {
  return Object.entries(table).filter(([key, value]) => {
    if (key === "") throw new Error("Codex config override keys must be non-empty strings");
    return value !== undefined;
  });
}

function toTomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
