import { fromJsonSchema, isOutputSchema, isReadable } from "./json-output-schema.ts";
import type { OutputSchema, OutputSchemaInput } from "./json-output-schema.ts";

/**
 * Accepts an output schema or its source, and throws for anything else. A library's schema is converted by the returned
 * function, which loads zod first.
 */
export function prepareOutputSchema<Output>(
  schema: OutputSchema<Output> | OutputSchemaInput<Output>,
): () => Promise<OutputSchema<Output>> {
  if (isReadable<Output>(schema))
    return async () => (await import("./output-schema.ts")).outputSchema(schema);
  const made = isOutputSchema<Output>(schema) ? schema : fromJsonSchema<Output>(schema);
  return () => Promise.resolve(made);
}
