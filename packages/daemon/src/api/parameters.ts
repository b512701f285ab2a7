import { z } from "zod";

/** An integer in a query string. `Number()` alone would also accept `""`, `" 1"` and `0x1`. */
export function integerParameter(
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): z.ZodType<number, number> {
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value),
    z.int("Expected a non-negative integer.").min(min).max(max),
  ) as unknown as z.ZodType<number, number>;
}

export function booleanParameter(): z.ZodType<boolean, boolean> {
  return z.preprocess(
    (value) => (value === "true" ? true : value === "false" ? false : value),
    z.boolean(),
  ) as unknown as z.ZodType<boolean, boolean>;
}

/** IDs of this API and of Codex are printable ASCII. Postgres rejects strings with a NUL. */
export const identifier = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[\x21-\x7e]+$/);

/** Text without control characters, such as a name. */
export function plainText(maxLength: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^\P{Cc}*$/u, "Control characters are not allowed.");
}

export const nodeName = plainText(256);

/** A property that only some nodes have. Labels that begin with `node:` are reserved: each node has exactly one. */
export const nodeLabel = plainText(256).refine(
  (value) => !value.startsWith("node:"),
  "Labels that begin with `node:` are reserved for node names.",
);

/** Used in URLs and typed by users. */
export const tenantName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "Expected 1 to 64 letters, digits, dots, dashes or underscores.");

export const pageLimit = integerParameter(1, 500).default(50);

export const cursor = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x21-\x7e]+$/);

/** Milliseconds to wait for the outcome of a command. */
export const waitQuery = z.strictObject({
  wait: integerParameter(0, 60_000)
    .optional()
    .meta({ description: "Milliseconds to wait for the outcome. Default: 0, which returns immediately." }),
});

/** Milliseconds since the epoch, by the store's clock. */
export const timestamp = z.int();
