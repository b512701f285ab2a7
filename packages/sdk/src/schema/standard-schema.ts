/**
 * A schema of zod 4, of `zod/mini`, or of any library that follows Standard Schema and Standard JSON Schema. Typed by
 * structure: comparing the types of two zod versions can exhaust the compiler's memory.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of validating a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Why a schema rejects a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema produces. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export function isStandardSchema<Output = unknown>(value: unknown): value is StandardSchema<Output> {
  // Some libraries make schemas that are functions.
  const isContainer = (typeof value === "object" && value !== null) || typeof value === "function";
  return isContainer && "~standard" in value;
}
