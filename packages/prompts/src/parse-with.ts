import type { StandardSchema } from "codexkit";
import { z } from "zod";
import { PromptError } from "./errors.ts";

/** The result of a validation: the parsed value, or a description of the problem. */
export type Parsed<Value> = { readonly value: Value } | { readonly problem: string };

/** Validates a value with a schema of zod 4, `zod/mini` or any other Standard Schema library. */
export function parseWith<Value>(schema: StandardSchema<Value>, value: unknown): Parsed<Value> {
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    throw new PromptError(
      "invalid_definition",
      "Schemas that validate asynchronously are not supported here.",
    );
  }
  if (!result.issues) return { value: result.value };
  const issues = result.issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => (typeof step === "object" ? step.key : step)),
  }));
  return { problem: z.prettifyError({ issues }) };
}
