import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import { resolveRef } from "codexkit/options";

/** The values that a JSON Schema allows at one position. */
export class SchemaView {
  readonly #root: JSONObject;
  readonly #options: readonly JSONObject[];

  private constructor(root: JSONObject, schemas: readonly JSONObject[]) {
    this.#root = root;
    this.#options = flatten(root, schemas);
  }

  static of(schema: JSONObject): SchemaView {
    return new SchemaView(schema, [schema]);
  }

  property(name: string): SchemaView {
    return new SchemaView(
      this.#root,
      this.#options.flatMap((option) => propertyOf(option, name)),
    );
  }

  get items(): SchemaView {
    const schemas = this.#options.flatMap(({ items }) => (isObject(items) ? [items] : []));
    return new SchemaView(this.#root, schemas);
  }

  get acceptsNull(): boolean {
    return this.#options.some(acceptsNull);
  }

  /** Whether null means that this property is absent, because it is optional and not nullable. */
  isAbsentWhenNull(name: string): boolean {
    const having = this.#options.filter((option) => propertyOf(option, name).length > 0);
    return having.some((option) => isOptional(option, name)) && !this.property(name).acceptsNull;
  }
}

/** Resolves references and alternatives. */
function flatten(root: JSONObject, schemas: readonly JSONObject[]): JSONObject[] {
  const seen = new Set<JSONObject>();
  const open = [...schemas];
  for (const schema of open) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    const { $ref, anyOf, oneOf, allOf } = schema;
    if (typeof $ref === "string") open.push(...resolve(root, $ref));
    for (const list of [anyOf, oneOf, allOf]) if (Array.isArray(list)) open.push(...list.filter(isObject));
  }
  return [...seen];
}

function resolve(root: JSONObject, ref: string): JSONObject[] {
  const found = resolveRef(ref, root) as JSONValue | undefined;
  return isObject(found) ? [found] : [];
}

function propertyOf({ properties }: JSONObject, name: string): JSONObject[] {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(property) ? [property] : [];
}

function isOptional({ required }: JSONObject, name: string): boolean {
  return !(Array.isArray(required) && required.includes(name));
}

function acceptsNull(schema: JSONObject): boolean {
  if (["$ref", "anyOf", "oneOf", "allOf"].some((keyword) => keyword in schema)) return false;
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.includes(null);
  if ("const" in schema) return schema["const"] === null;
  return type === undefined || type === "null" || (Array.isArray(type) && type.includes("null"));
}

function isObject(value: JSONValue | undefined): value is JSONObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
