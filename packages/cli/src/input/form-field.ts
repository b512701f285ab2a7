import type { JsonValue, v2 } from "codexkit";

/** A field of a form in the shape in which it is asked: a list of choices, or text to parse. */
export interface FormField {
  readonly name: string;
  readonly isRequired: boolean;
  readonly label: string;
  readonly description: string | undefined;
  /** The allowed values, if there is a fixed set. */
  readonly choices: readonly { readonly value: string; readonly label: string }[] | undefined;
  /** The default, as text. */
  readonly initial: string | undefined;
  /** Converts a chosen or typed value. Throws an error that says what is expected. */
  parse(text: string): JsonValue;
}

/**
 * Reads the fields of an MCP server's form. Undefined if a field has a type that MCP does not allow in forms.
 */
export function readFields(schema: unknown): FormField[] | undefined {
  const { type, properties, required } = (schema ?? {}) as Partial<v2.McpElicitationSchema>;
  if (type !== "object" || typeof properties !== "object" || properties === null) return undefined;
  const fields = Object.entries(properties).map(([name, field]) =>
    field ? readField(name, field, required?.includes(name) ?? false) : undefined,
  );
  return fields.includes(undefined) ? undefined : (fields as FormField[]);
}

function readField(
  name: string,
  field: v2.McpElicitationPrimitiveSchema,
  isRequired: boolean,
): FormField | undefined {
  const base = { name, isRequired, label: field.title ?? name, description: field.description };
  const initial = field.default === undefined ? undefined : String(field.default);
  switch (field.type) {
    case "boolean":
      return {
        ...base,
        choices: [
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ],
        initial,
        parse: (text) => text === "true",
      };
    case "number":
    case "integer":
      return { ...base, choices: undefined, initial, parse: (text) => parseNumber(text, field) };
    case "array": {
      const values =
        "anyOf" in field.items ? field.items.anyOf.map((option) => option.const) : field.items.enum;
      const description = `Any of ${values.join(", ")}, separated by commas`;
      return { ...base, description, choices: undefined, initial, parse: (text) => parseList(text, values) };
    }
    case "string":
      return { ...base, choices: choicesOf(field), initial, parse: (text) => parseText(text, field) };
    default:
      return undefined;
  }
}

type StringField = Extract<v2.McpElicitationPrimitiveSchema, { type: "string" }>;

function choicesOf(field: StringField): FormField["choices"] {
  if ("oneOf" in field) return field.oneOf.map(({ const: value, title }) => ({ value, label: title }));
  if (!("enum" in field)) return undefined;
  const names = "enumNames" in field ? field.enumNames : undefined;
  return field.enum.map((value, index) => ({ value, label: names?.[index] ?? value }));
}

function parseNumber(
  text: string,
  { type, minimum, maximum }: Extract<v2.McpElicitationPrimitiveSchema, { type: "number" | "integer" }>,
): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new Error("This is not a number.");
  if (type === "integer" && !Number.isInteger(value)) throw new Error("This is not a whole number.");
  if (minimum !== undefined && value < minimum) throw new Error(`It must be at least ${minimum}.`);
  if (maximum !== undefined && value > maximum) throw new Error(`It must be at most ${maximum}.`);
  return value;
}

function parseList(text: string, values: readonly string[]): string[] {
  const picked = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const unknown = picked.find((word) => !values.includes(word));
  if (unknown !== undefined)
    throw new Error(`Unknown choice "${unknown}". Choose from ${values.join(", ")}.`);
  return picked;
}

function parseText(text: string, field: StringField): string {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = field as v2.McpElicitationStringSchema;
  // JSON Schema counts code points, not UTF-16 units.
  const { length } = Array.from(text);
  if (length < minLength) throw new Error(`It needs at least ${minLength} characters.`);
  if (length > maxLength) throw new Error(`It can have at most ${maxLength} characters.`);
  return text;
}
