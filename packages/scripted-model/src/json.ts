/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. `undefined` members are left out when it is sent. */
export type JsonObject = { readonly [key: string]: Json | undefined };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parsed value, or undefined where the text isn't JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
