import { $ZodError, prettifyError } from "zod/v4/core";

/** Describes a thrown value in one line. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof $ZodError) return prettifyError(thrown).replaceAll(/\s*\n\s*/g, " ");
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "a value without a string representation was thrown";
  }
}
