import { PromptError } from "../errors.ts";

const PROMPT_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const SECTION_KEY = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Restricts namespaces and keys to short, plain names, because they appear in file names, events and metrics. */
export function checkPromptName(field: "ns" | "key", value: string): void {
  if (typeof value === "string" && PROMPT_NAME.test(value)) return;
  throw new PromptError(
    "invalid_definition",
    `A prompt's ${field} must have 1 to 64 characters of a-z, 0-9, ".", "_" and "-", got ${JSON.stringify(value)}.`,
  );
}

/** Section keys can't contain dots, because dots join them to paths. */
export function checkSectionKey(value: string): void {
  if (typeof value === "string" && SECTION_KEY.test(value)) return;
  throw new PromptError(
    "invalid_definition",
    `A section's key must have 1 to 64 characters of a-z, 0-9, "_" and "-", got ${JSON.stringify(value)}.`,
  );
}
