import { z } from "zod";
import { PolicyError } from "../errors.ts";
import { EFFECT_KINDS } from "../programs/effect.ts";
import { compilePolicy } from "./compile-policy.ts";
import type { Policy } from "./policy.ts";
import type { Rule } from "./rule.ts";

const decision = z.enum(["allow", "deny", "ask"]);
const common = { note: z.string().optional(), lasting: z.enum(["call", "session", "always"]).optional() };
const word = z.string().min(1);

const rule = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("prefix"),
    argv: z.array(z.union([word, z.array(word).min(1)])).min(1),
    ...common,
  }),
  z.strictObject({ kind: z.literal("exact"), argv: z.array(z.string()).min(1), ...common }),
  z.strictObject({ kind: z.literal("script"), text: z.string(), ...common }),
  z.strictObject({ kind: z.literal("regex"), pattern: z.string(), ...common }),
  z.strictObject({
    kind: z.literal("path"),
    glob: word,
    access: z.enum(["read", "write"]).optional(),
    ...common,
  }),
  z.strictObject({ kind: z.literal("host"), host: word, ...common }),
  z.strictObject({ kind: z.literal("mcp"), server: word, tool: z.string().optional(), ...common }),
]);

// Strict: a field that is not understood may be one that forbids something.
const policy = z.strictObject({
  version: z.literal(1),
  preset: z.enum(["read-only", "workspace-write", "developer", "danger-full-access", "bypass"]),
  deny: z.array(rule),
  allow: z.array(rule),
  alsoAllow: z.array(rule),
  default: decision,
  workspace: z.strictObject({
    roots: z.array(z.string()),
    temp: z.array(z.string()),
    home: z.string().optional(),
  }),
  network: z.strictObject({
    allow: z.array(z.string()),
    deny: z.array(z.string()),
    loopback: decision.optional(),
    private: decision.optional(),
  }),
  effects: z.partialRecord(z.enum(EFFECT_KINDS), decision),
  onDeny: z.enum(["decline", "cancel"]),
});

/**
 * Reads a policy that was stored as JSON.
 *
 * @throws {PolicyError} `invalid_policy` when it is not one, `invalid_rule` or `invalid_regex` when a rule can't be read.
 */
export function parsePolicy(json: unknown): Policy {
  const result = policy.safeParse(json);
  if (!result.success)
    throw new PolicyError("invalid_policy", `not a policy: ${z.prettifyError(result.error)}`, {
      cause: result.error,
    });
  compilePolicy(result.data);
  return result.data;
}

/** Reads one rule that was stored as JSON. */
export function parseRule(json: unknown): Rule {
  const result = rule.safeParse(json);
  if (!result.success)
    throw new PolicyError("invalid_rule", `not a rule: ${z.prettifyError(result.error)}`, {
      cause: result.error,
    });
  return result.data;
}
