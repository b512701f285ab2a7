import { outputSchema, type OutputSchema, type StandardSchema } from "codexkit";
import { z } from "zod";

/** How a prompt's final message is requested and parsed. */
export interface PromptOutput<Output> {
  readonly schema: OutputSchema<unknown> | undefined;
  /** Converts the parsed value to the prompt's output. */
  unwrap(structured: unknown): Output;
}

/** Wraps a zod array in an object, because Codex accepts only objects as output. */
export function toPromptOutput<Output>(schema: StandardSchema<Output> | undefined): PromptOutput<Output> {
  if (!schema) return { schema: undefined, unwrap: () => undefined as Output };
  if (!isZodArray(schema)) return { schema: outputSchema(schema), unwrap: (value) => value as Output };
  const wrapped = z.object({ items: schema as unknown as z.ZodType });
  return { schema: outputSchema(wrapped), unwrap: (value) => (value as { items: Output }).items };
}

function isZodArray(schema: object): boolean {
  return "_zod" in schema && (schema as z.core.$ZodType)._zod.def.type === "array";
}
