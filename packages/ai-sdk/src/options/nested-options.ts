import { z } from "zod";
import { suggestKey } from "./suggest-key.ts";

/** An object of optional functions. An unknown name is an error, because it would never be called. */
export function functionsOf<Type extends object>(
  known: Readonly<Record<keyof Type, true>>,
): z.ZodType<Type, Type> {
  return objectOf<Type>((value, report) => {
    reportUnknown(value, Object.keys(known), report);
    reportNonFunctions(value, Object.keys(known), report);
  });
}

/**
 * Like `functionsOf`, but allows other members, as `console` has. Of those, only names that look misspelt are errors.
 */
export function someFunctionsOf<Type extends object>(
  known: Readonly<Record<keyof Type, true>>,
): z.ZodType<Type, Type> {
  const names = Object.keys(known);
  return objectOf<Type>((value, report) => {
    for (const name of Object.keys(value)) {
      const meant = names.includes(name) ? undefined : suggestKey(name, names);
      if (meant !== undefined && !(meant in value)) report(name, unknownKey(name, names));
    }
    reportNonFunctions(value, names, report);
  });
}

/** An object that may have only these keys. Their values are checked elsewhere. */
export function keysOf<Type extends object>(
  keys: readonly string[],
  needs: (value: Readonly<Record<string, unknown>>) => string | undefined,
): z.ZodType<Type, Type> {
  return objectOf<Type>((value, report) => {
    reportUnknown(value, keys, report);
    const missing = needs(value);
    if (missing !== undefined) report(undefined, missing);
  });
}

/** Returns the error message for an unknown key. */
export function unknownKey(given: string, keys: readonly string[]): string {
  const meant = suggestKey(given, keys);
  return meant === undefined
    ? `Unknown key "${given}". Valid keys: ${keys.join(", ")}.`
    : `Did you mean "${meant}" instead of "${given}"?`;
}

type Fields = Readonly<Record<string, unknown>>;
type Report = (key: string | undefined, message: string) => void;

function objectOf<Type extends object>(
  check: (value: Fields, report: Report) => void,
): z.ZodType<Type, Type> {
  return z
    .custom<Type>(
      (value) => typeof value === "object" && value !== null && !Array.isArray(value),
      "must be an object",
    )
    .superRefine((value, context) => {
      check(value as Fields, (key, message) => {
        context.addIssue({ code: "custom", message, ...(key !== undefined && { path: [key] }) });
      });
    });
}

function reportUnknown(value: Fields, keys: readonly string[], report: Report): void {
  for (const [key, one] of Object.entries(value)) {
    if (one !== undefined && !keys.includes(key)) report(key, unknownKey(key, keys));
  }
}

function reportNonFunctions(value: Fields, names: readonly string[], report: Report): void {
  for (const name of names) {
    const one = value[name];
    if (one !== undefined && typeof one !== "function") report(name, `must be a function, got ${typeof one}`);
  }
}
