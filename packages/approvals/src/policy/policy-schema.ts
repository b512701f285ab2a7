import { z } from "zod";
import { PolicyError } from "../errors.ts";
import { EFFECT_KINDS, PRESET_NAMES } from "./presets.ts";

const decision = z.enum(["allow", "deny", "ask"]);
const strings = z.array(z.string()).readonly();
const common = {
  note: z.string().optional(),
  justification: z.string().optional(),
  match: strings.optional(),
  notMatch: strings.optional(),
  scope: z.enum(["call", "session", "always"]).optional(),
};
const word = z.string().min(1);

function ruleOf<Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) {
  return z.strictObject({ kind: z.literal(kind), ...shape, ...common });
}

/** One rule as an object. */
export const ruleSchema = z.discriminatedUnion("kind", [
  ruleOf("prefix", {
    argv: z
      .array(z.union([word, z.array(word).min(1).readonly()]))
      .min(1)
      .readonly(),
  }),
  ruleOf("exact", { argv: z.array(z.string()).min(1).readonly(), folder: word.optional() }),
  ruleOf("script", { text: z.string(), folder: word.optional(), stdin: z.boolean().optional() }),
  ruleOf("regex", { pattern: z.string() }),
  ruleOf("path", {
    glob: word,
    access: z.enum(["read", "write", "update"]).optional(),
    literal: z.boolean().optional(),
  }),
  ruleOf("host", { host: word }),
  ruleOf("mcp", { server: word, tool: z.string().optional(), literal: z.boolean().optional() }),
]);

const rules = z.array(z.union([z.string(), ruleSchema])).readonly();

const workspace = z.strictObject({ roots: strings, temp: strings, home: z.string() }).partial();
const network = z
  .strictObject({ allow: strings, deny: strings, loopback: decision, private: decision })
  .partial();

// Strict: a field that is not understood may be one that forbids something.
export const policySchema = z.strictObject({
  version: z.literal(1).optional(),
  preset: z.enum(PRESET_NAMES).optional(),
  deny: rules.optional(),
  ask: rules.optional(),
  allow: rules.optional(),
  additionalAllow: rules.optional(),
  default: decision.optional(),
  workspace: z.union([z.string(), strings, workspace]).optional(),
  network: network.optional(),
  effects: z.partialRecord(z.enum(EFFECT_KINDS), decision).optional(),
  onDeny: z.enum(["decline", "cancel"]).optional(),
  get within() {
    return policySchema.optional();
  },
});

/** Reads a value by a schema, or throws what is wrong with it. */
export function readWith<T>(
  schema: z.ZodType<T>,
  value: unknown,
  code: "invalid_policy" | "invalid_rule",
): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const what = code === "invalid_policy" ? "a policy" : "a rule";
  throw new PolicyError(code, `This is not ${what}. ${z.prettifyError(result.error)}`, {
    cause: result.error,
  });
}
