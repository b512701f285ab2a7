import { CodexError } from "../errors.ts";
import {
  alternatives,
  isObject,
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveRef,
  typesOf,
} from "./json-schema.ts";

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** Keywords that OpenAI's strict mode rejects. Without them the schema would have another meaning. */
const REJECTED = [
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "prefixItems",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
];

/** Keywords that don't affect the shape, and that strict mode rejects or ignores. */
const DROPPED = new Set(["$schema", "$id", "default", "examples", "propertyNames", "oneOf"]);

/** Marks a zod type without a JSON Schema equivalent, so that the error can name it. */
export const ZOD_TYPE = "x-zod-type";

/**
 * Converts a schema for OpenAI's strict mode, which Codex requests: every object closed, every property required,
 * optional ones nullable instead. Codex itself accepts any value, and then the model's server fails the turn; so a
 * schema that can't be converted is rejected here.
 */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  const root = typeof schema["$ref"] === "string" ? inlineRoot(schema, schema["$ref"]) : schema;
  if (root["type"] !== "object") {
    throw invalid("", "the root must be an object (wrap other types in a property)");
  }
  return strict(root, "");
}

function inlineRoot(schema: JsonSchema, ref: string): JsonSchema {
  const { $ref: _ref, ...rest } = schema;
  const target = resolveRef(ref, schema);
  if (!isObject(target)) throw invalid("", `"${ref}" does not exist`);
  return { ...target, ...rest };
}

function strict(schema: unknown, path: string): JsonSchema {
  if (!isObject(schema)) throw invalid(path, `a schema must be an object, got ${JSON.stringify(schema)}`);
  for (const keyword of REJECTED) {
    if (keyword in schema) throw invalid(path, `OpenAI's strict mode does not support "${keyword}"`);
  }
  checkType(schema, path);
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) if (!DROPPED.has(keyword)) result[keyword] = value;
  for (const keyword of ["$defs", "definitions"]) {
    const defs = schema[keyword];
    if (isObject(defs))
      result[keyword] = mapValues(defs, (def, name) => strict(def, join(path, `${keyword}.${name}`)));
  }
  const any = alternatives(schema);
  if (any) result["anyOf"] = any.map((one) => strict(one, path));
  if (hasType(schema, "array")) {
    if (!("items" in schema)) throw invalid(path, 'an array needs "items"');
    result["items"] = strict(schema["items"], `${path}[]`);
  }
  return hasType(schema, "object") || "properties" in schema
    ? { ...result, ...closed(schema, path) }
    : result;
}

/** Requires all properties and allows no others. */
function closed(schema: JsonSchema, path: string): JsonSchema {
  const { additionalProperties: more } = schema;
  if (isObject(more) && Object.keys(more).length > 0) {
    throw invalid(
      path,
      "OpenAI's strict mode does not support arbitrary keys: use an array of { key, value }",
    );
  }
  const required = requiredOf(schema);
  const properties = mapValues(propertiesOf(schema), (property, name) => {
    const made = strict(property, join(path, name));
    return required.has(name) || acceptsNull(made) ? made : { anyOf: [made, { type: "null" }] };
  });
  return {
    type: schema["type"] ?? "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function checkType(schema: JsonSchema, path: string): void {
  const types = typesOf(schema);
  const unknown = types.find((one) => typeof one !== "string" || !TYPES.has(one));
  if (unknown !== undefined) throw invalid(path, `${JSON.stringify(unknown)} is not a JSON Schema type`);
  if (types.length > 0 || "enum" in schema || "const" in schema || "$ref" in schema || "properties" in schema)
    return;
  if (alternatives(schema)) return;
  const zodType = schema[ZOD_TYPE];
  throw typeof zodType === "string"
    ? invalid(path, `zod type ${zodType} has no JSON Schema equivalent`)
    : invalid(path, 'it has no "type", which strict mode requires');
}

function hasType(schema: JsonSchema, type: string): boolean {
  return typesOf(schema).includes(type);
}

function acceptsNull(schema: JsonSchema): boolean {
  if (hasType(schema, "null")) return true;
  return alternatives(schema)?.some((one) => isObject(one) && acceptsNull(one)) ?? false;
}

function mapValues<To>(
  record: Record<string, unknown>,
  map: (value: unknown, key: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function invalid(path: string, why: string): CodexError {
  const where = path === "" ? "" : ` at "${path}"`;
  return new CodexError("invalid_schema", `The output schema can't be used${where}: ${why}.`);
}
