import {
  alternatives,
  isObject,
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveRef,
  typesOf,
} from "./json-schema.ts";

/** Limit of the recursion, which would never end for a schema that only refers to itself. */
const MAX_DEPTH = 256;

/**
 * Describes how a value violates a schema; `undefined` if it is valid. Checks types, properties, items, alternatives,
 * `enum` and `const`, but no ranges, patterns or formats. `null` counts as a missing optional property, because a
 * strict schema has no other way to omit it.
 */
export function findMismatch(
  schema: unknown,
  value: unknown,
  root: JsonSchema,
  path = "",
  depth = 0,
): string | undefined {
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  const deeper = (inner: unknown, part: unknown, at: string): string | undefined =>
    findMismatch(inner, part, root, at, depth + 1);
  if (typeof schema["$ref"] === "string") return deeper(resolveRef(schema["$ref"], root), value, path);
  const any = alternatives(schema);
  if (any && any.every((one) => deeper(one, value, path) !== undefined)) {
    return `${where(path)} matches none of its ${any.length} alternatives`;
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((one) => isSame(one, value))) {
    return `${where(path)} is not one of ${JSON.stringify(schema["enum"])}`;
  }
  if ("const" in schema && !isSame(schema["const"], value)) {
    return `${where(path)} is not ${JSON.stringify(schema["const"])}`;
  }
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((one) => isOfType(value, one))) {
    return `${where(path)} must be ${types.join(" or ")}, got ${describe(value)}`;
  }
  if (Array.isArray(value)) {
    return firstOf(value, (item: unknown, index) => deeper(schema["items"], item, `${path}[${index}]`));
  }
  if (!isObject(value)) return undefined;
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const missing = [...required].find((name) => !(name in value));
  if (missing !== undefined) return `${where(path)} is missing "${missing}"`;
  return firstOf(Object.entries(value), ([name, part]) => {
    if (!(name in properties)) {
      return schema["additionalProperties"] === false
        ? `${where(path)} has the unknown property "${name}"`
        : undefined;
    }
    if (part === null && !required.has(name)) return undefined;
    return deeper(properties[name], part, path === "" ? name : `${path}.${name}`);
  });
}

/** Removes the nulls that stand for missing optional properties. */
export function removeAbsent(schema: unknown, value: unknown, root: JsonSchema, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return value;
  if (typeof schema["$ref"] === "string") {
    return removeAbsent(resolveRef(schema["$ref"], root), value, root, depth + 1);
  }
  const fitting = alternatives(schema)?.find((one) => findMismatch(one, value, root) === undefined);
  if (fitting !== undefined) return removeAbsent(fitting, value, root, depth + 1);
  if (Array.isArray(value)) {
    return value.map((item: unknown) => removeAbsent(schema["items"], item, root, depth + 1));
  }
  if (!isObject(value)) return value;
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const kept = Object.entries(value).filter(
    ([name, part]) =>
      part !== null ||
      required.has(name) ||
      !(name in properties) ||
      findMismatch(properties[name], null, root) === undefined,
  );
  return Object.fromEntries(
    kept.map(([name, part]) => [name, removeAbsent(properties[name], part, root, depth + 1)]),
  );
}

function firstOf<Entry>(
  entries: readonly Entry[],
  check: (entry: Entry, index: number) => string | undefined,
): string | undefined {
  for (const [index, entry] of entries.entries()) {
    const found = check(entry, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "object":
      return isObject(value);
    default:
      return describe(value) === type;
  }
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

function describe(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

function where(path: string): string {
  return path === "" ? "the value" : `"${path}"`;
}
