import { fromJsonSchema, isOutputSchema, isReadable } from "./json-output-schema.ts";
import type { OutputSchema, OutputSchemaInput } from "./json-output-schema.ts";

/**
 * Accepts an output schema or its source. Throws for one that is neither; a schema of a library is converted by the returned
 * function, which loads zod for it.
 */
export function prepareOutputSchema<Output>(
  schema: OutputSchema<Output> | OutputSchemaInput<Output>,
): () => Promise<OutputSchema<Output>> {
  if (isReadable<Output>(schema))
    return async () => (await import("./output-schema.ts")).outputSchema(schema);
  const made = isOutputSchema<Output>(schema) ? schema : fromJsonSchema<Output>(schema);
  return () => Promise.resolve(made);
}
