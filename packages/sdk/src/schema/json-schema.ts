/** A JSON Schema object. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The values of `type`, which may also be a single value. Empty if there is none. */
export function typesOf({ type }: JsonSchema): readonly unknown[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}

/** The alternatives of a schema, if it has any. */
export function alternatives(schema: JsonSchema): readonly unknown[] | undefined {
  const any = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(any) ? any : undefined;
}

export function propertiesOf(schema: JsonSchema): Record<string, unknown> {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

export function requiredOf(schema: JsonSchema): ReadonlySet<string> {
  const { required } = schema;
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

/** Resolves a local reference, such as `#/$defs/name`. Returns undefined if it is malformed or its target doesn't exist. */
export function resolveRef(ref: string, root: JsonSchema): unknown {
  const pointer = ref.startsWith("#") ? decode(ref.slice(1)) : undefined;
  if (pointer === undefined) return undefined;
  let found: unknown = root;
  for (const step of pointer.split("/").filter(Boolean)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, key)
        ? found[key as never]
        : undefined;
  }
  return found;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a zod 3 schema, which zod 4 can't read. */
export function isZod3(value: object): boolean {
  return "_def" in value && !("_zod" in value);
}
