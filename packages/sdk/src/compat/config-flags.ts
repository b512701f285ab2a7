/** A configuration object as `key=value` pairs with values in TOML: nested objects become dotted names. */
export function configFlags(config: unknown): string[] {
  if (!isTable(config)) throw new Error("Codex config overrides must be a plain object");
  return flatten(config, "");
}

/** A value in TOML. `name` is its place, for the error about a value that TOML can't hold. */
export function tomlValue(value: unknown, name: string): string {
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
    const items = Array.from(value, (item: unknown, index) => tomlValue(item, `${name}[${index}]`));
    return `[${items.join(", ")}]`;
  }
  if (value === null) throw new Error(`Codex config override at ${name} cannot be null`);
  if (!isTable(value)) {
    throw new Error(`Unsupported Codex config override value at ${name}: ${typeof value}`);
  }
  const members = membersOf(value).map(
    ([key, member]) => `${tomlKey(key)} = ${tomlValue(member, `${name}.${key}`)}`,
  );
  return `{${members.join(", ")}}`;
}

function flatten(table: object, prefix: string): string[] {
  return membersOf(table).flatMap(([key, value]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    if (!isTable(value)) return [`${name}=${tomlValue(value, name)}`];
    return Object.keys(value).length === 0 ? [`${name}={}`] : flatten(value, name);
  });
}

function membersOf(table: object): [string, unknown][] {
  return Object.entries(table).filter(([key, value]) => {
    if (key === "") throw new Error("Codex config override keys must be non-empty strings");
    return value !== undefined;
  });
}

function tomlKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function isTable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
