/** An entered value, before it is converted. */
export type FormValue = string | boolean | readonly string[];

export interface FormChoice {
  readonly value: string;
  readonly label: string;
}

interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly initial: FormValue;
}

/** A field of a form of an MCP server. */
export type FormField =
  | (FieldBase & {
      readonly type: "text";
      readonly format: string | undefined;
      readonly minLength: number;
      readonly maxLength: number;
    })
  | (FieldBase & {
      readonly type: "number";
      readonly isInteger: boolean;
      readonly minimum: number;
      readonly maximum: number;
    })
  | (FieldBase & { readonly type: "checkbox" })
  | (FieldBase & { readonly type: "choice"; readonly choices: readonly FormChoice[] })
  | (FieldBase & {
      readonly type: "choices";
      readonly choices: readonly FormChoice[];
      readonly minItems: number;
      readonly maxItems: number;
    });

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the fields of a form. Undefined if the schema contains something that MCP does not allow in forms. Then, the answer is
 * entered as JSON.
 */
export function readFormFields(schema: unknown): readonly FormField[] | undefined {
  if (!isJson(schema) || schema["type"] !== "object" || !isJson(schema["properties"])) return undefined;
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const fields = Object.entries(schema["properties"]).map(([name, field]) =>
    isJson(field) ? readField(name, field, required.includes(name)) : undefined,
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

/** Validates a value. Returns the reason if it is invalid. */
export function checkField(field: FormField, value: FormValue): string | undefined {
  if (isEmpty(value))
    return field.isRequired && field.type !== "checkbox" ? "An answer is required." : undefined;
  switch (field.type) {
    case "text":
      return checkText(field, value as string);
    case "number":
      return checkNumber(field, value as string);
    case "choices": {
      const count = (value as readonly string[]).length;
      if (count < field.minItems) return `Choose at least ${field.minItems}.`;
      return count > field.maxItems ? `Choose at most ${field.maxItems}.` : undefined;
    }
    case "checkbox":
    case "choice":
      return undefined;
  }
}

/** Converts valid values to the contents of the form. Omits optional fields without a value. */
export function toContent(
  fields: readonly FormField[],
  valueOf: (field: FormField) => FormValue,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = valueOf(field);
      if (isEmpty(value)) return [];
      return [[field.name, field.type === "number" ? Number(value) : value]];
    }),
  );
}

function readField(name: string, field: Json, isRequired: boolean): FormField | undefined {
  const base = {
    name,
    isRequired,
    label: textOf(field["title"]) ?? name,
    description: textOf(field["description"]),
  };
  const initial = field["default"];
  switch (field["type"]) {
    case "boolean":
      return { ...base, type: "checkbox", initial: initial === true };
    case "number":
    case "integer":
      return {
        ...base,
        type: "number",
        isInteger: field["type"] === "integer",
        minimum: numberOf(field["minimum"]) ?? Number.NEGATIVE_INFINITY,
        maximum: numberOf(field["maximum"]) ?? Number.POSITIVE_INFINITY,
        initial: typeof initial === "number" ? String(initial) : "",
      };
    case "array": {
      const choices = isJson(field["items"]) ? readChoices(field["items"]) : undefined;
      if (!choices) return undefined;
      return {
        ...base,
        type: "choices",
        choices,
        minItems: numberOf(field["minItems"]) ?? 0,
        maxItems: numberOf(field["maxItems"]) ?? Number.POSITIVE_INFINITY,
        initial: Array.isArray(initial) ? initial.filter((value) => typeof value === "string") : [],
      };
    }
    case "string": {
      const choices = readChoices(field);
      const text = textOf(initial) ?? "";
      if (choices) return { ...base, type: "choice", choices, initial: text };
      return {
        ...base,
        type: "text",
        format: textOf(field["format"]),
        minLength: numberOf(field["minLength"]) ?? 0,
        maxLength: numberOf(field["maxLength"]) ?? Number.POSITIVE_INFINITY,
        initial: text,
      };
    }
    default:
      return undefined;
  }
}

/** Choices of `oneOf`, `anyOf` or `enum`. Undefined if there are none. */
function readChoices(field: Json): readonly FormChoice[] | undefined {
  const titled = field["oneOf"] ?? field["anyOf"];
  if (Array.isArray(titled)) {
    const options = (titled as unknown[]).filter(isJson);
    return options.map((option) => {
      const value = String(option["const"]);
      return { value, label: textOf(option["title"]) ?? value };
    });
  }
  if (!Array.isArray(field["enum"])) return undefined;
  const names: unknown[] = Array.isArray(field["enumNames"]) ? (field["enumNames"] as unknown[]) : [];
  return (field["enum"] as unknown[]).map((value, index) => ({
    value: String(value),
    label: textOf(names[index]) ?? String(value),
  }));
}

function checkText(
  { minLength, maxLength, format }: Extract<FormField, { type: "text" }>,
  text: string,
): string | undefined {
  // JSON Schema counts characters, not UTF-16 code units.
  const length = Array.from(text).length;
  if (length < minLength) return `It needs at least ${minLength} characters.`;
  if (length > maxLength) return `It can have at most ${maxLength} characters.`;
  switch (format) {
    case "email":
      return /^\S+@\S+\.\S+$/.test(text) ? undefined : "This is not an e-mail address.";
    case "uri":
      return URL.canParse(text) ? undefined : "This is not a URL.";
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(text) ? undefined : "Expected a date such as 2026-11-17.";
    case "date-time":
      return Number.isNaN(Date.parse(text)) ? "Expected a time such as 2026-11-17T09:30:00Z." : undefined;
    default:
      return undefined;
  }
}

function checkNumber(
  { isInteger, minimum, maximum }: Extract<FormField, { type: "number" }>,
  text: string,
): string | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return "This is not a number.";
  if (isInteger && !Number.isInteger(value)) return "This is not a whole number.";
  if (value < minimum) return `It must be at least ${minimum}.`;
  return value > maximum ? `It must be at most ${maximum}.` : undefined;
}

function isEmpty(value: FormValue): boolean {
  return typeof value === "string" ? value.trim() === "" : Array.isArray(value) && value.length === 0;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
