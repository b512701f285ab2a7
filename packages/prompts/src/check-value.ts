import { PromptError, type PromptErrorCode } from "./errors.ts";

/**
 * Rejects a value of the wrong type, which the compiler can't detect in JavaScript or behind a cast. Undefined is allowed.
 * @param expected Completes the sentence "… must be".
 */
export function checkValue(
  what: string,
  value: unknown,
  expected: string,
  isValid: (value: unknown) => boolean,
  code: PromptErrorCode = "invalid_option",
): void {
  if (value === undefined || isValid(value)) return;
  throw new PromptError(code, `${what} must be ${expected}, got ${describeValue(value)}.`);
}

export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

export function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

export function isString(value: unknown): boolean {
  return typeof value === "string";
}

export function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every(isString);
}

/** Whether a value has these methods. Used instead of `instanceof`, because other copies of this package have other classes. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === "function")
  );
}

function describeValue(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null)
    return Array.isArray(value)
      ? "an array"
      : `an object (${Object.keys(value).slice(0, 5).join(", ") || "empty"})`;
  return typeof value === "string" ? JSON.stringify(value.slice(0, 60)) : String(value);
}
