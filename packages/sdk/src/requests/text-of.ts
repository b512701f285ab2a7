import { z } from "zod";

/** Whatever was thrown, in a line of words. */
export function textOf(thrown: unknown): string {
  if (thrown instanceof z.ZodError) return z.prettifyError(thrown).replaceAll(/\s*\n\s*/g, " ");
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "a value that has no text was thrown";
  }
}
