import { outputSchema, type OutputSchema, type StandardSchema } from "codexkit";
import { z } from "zod";

/** How the final message of a prompt is requested and read. */
export interface PromptOutput<Output> {
  readonly schema: OutputSchema<unknown> | undefined;
  /** Turns what the schema parsed into the prompt's output. */
  unwrap(structured: unknown): Output;
}

/** Codex accepts only objects as output, so a list of zod is requested as a property of one. */
export function toPromptOutput<Output>(schema: StandardSchema<Output> | undefined): PromptOutput<Output> {
  if (!schema) return { schema: undefined, unwrap: () => undefined as Output };
  if (!isZodArray(schema)) return { schema: outputSchema(schema), unwrap: (value) => value as Output };
  const wrapped = z.object({ items: schema as unknown as z.ZodType });
  return { schema: outputSchema(wrapped), unwrap: (value) => (value as { items: Output }).items };
}

function isZodArray(schema: object): boolean {
  return "_zod" in schema && (schema as z.core.$ZodType)._zod.def.type === "array";
}
