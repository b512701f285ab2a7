import { z } from "zod";
import { CodexModelError } from "../errors.ts";
import { mcpServer } from "./mcp-server-schema.ts";
import type { CodexLanguageModelOptions } from "./options.ts";
import { suggestKey } from "./suggest-key.ts";
import { whereKeyBelongs } from "./where-keys-belong.ts";

const approvalPolicy = z.union([
  z.enum(["untrusted", "on-request", "never"]),
  z.strictObject({
    granular: z.strictObject({
      sandbox_approval: z.boolean(),
      rules: z.boolean(),
      skill_approval: z.boolean(),
      request_permissions: z.boolean(),
      mcp_elicitations: z.boolean(),
    }),
  }),
]);

const sandboxPolicy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("dangerFullAccess") }),
  z.strictObject({ type: z.literal("readOnly"), networkAccess: z.boolean().optional() }),
  z.strictObject({
    type: z.literal("workspaceWrite"),
    writableRoots: z.array(z.string().min(1)).optional(),
    networkAccess: z.boolean().optional(),
    excludeTmpdirEnvVar: z.boolean().optional(),
    excludeSlashTmp: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("externalSandbox"),
    networkAccess: z.enum(["restricted", "enabled"]).optional(),
  }),
]);

/** The valid keys of object options, by the option's path. */
const NESTED_KEYS: Readonly<Record<string, readonly string[]>> = {
  sandboxPolicy: [...new Set(sandboxPolicy.options.flatMap(({ shape }) => Object.keys(shape)))],
};

const summary = z.enum(["auto", "concise", "detailed", "none"]);

/** The schema of the options that may be set for all calls or for one. */
export const sharedOptions = {
  cwd: z.string().optional(),
  workspace: z.enum(["call", "conversation"]).optional(),
  sandbox: z.enum(["read-only", "workspace-write", "danger-full-access"]).optional(),
  sandboxPolicy: sandboxPolicy.optional(),
  approvalPolicy: approvalPolicy.optional(),
  approvalsReviewer: z.enum(["user", "auto_review"]).optional(),
  effort: z.string().min(1).optional(),
  reasoningEffort: z.string().min(1).optional(),
  summary: summary.optional(),
  reasoningSummary: summary.optional(),
  textVerbosity: z.enum(["low", "medium", "high"]).optional(),
  serviceTier: z.string().optional(),
  persist: z.boolean().optional(),
  mcpServers: z.record(z.string(), mcpServer).optional(),
  instructions: z.string().optional(),
  baseInstructions: z.string().optional(),
  config: z.record(z.string(), z.json()).optional(),
  plans: z.boolean().optional(),
  extractMentions: z.boolean().optional(),
};

const namedPath = z.strictObject({ name: z.string().min(1), path: z.string().min(1) });

const schema: z.ZodType<CodexLanguageModelOptions, CodexLanguageModelOptions> = z.strictObject({
  ...sharedOptions,
  threadId: z.string().min(1).optional(),
  fork: z
    .union([
      z.boolean(),
      z.strictObject({ lastTurnId: z.string() }),
      z.strictObject({ beforeTurnId: z.string() }),
    ])
    .optional(),
  compact: z.boolean().optional(),
  skills: z.array(namedPath).optional(),
  mentions: z.array(namedPath).optional(),
});

/** The names of all call options. */
export const OPTION_KEYS: readonly string[] = [
  ...Object.keys(sharedOptions),
  "threadId",
  "fork",
  "compact",
  "skills",
  "mentions",
];

/** Validates a call's options. Rejects unknown options, because they would have no effect. */
export function readModelOptions(options: unknown): CodexLanguageModelOptions {
  return checked(schema, options ?? {}, { what: "providerOptions.codex", keys: OPTION_KEYS });
}

/** Validates a value. For an unknown key, the error suggests the key that was probably meant. */
export function checked<Schema extends z.ZodType>(
  expected: Schema,
  value: unknown,
  { what, keys }: { readonly what: string; readonly keys: readonly string[] },
): z.output<Schema> {
  const result = expected.safeParse(value);
  if (result.success) return result.data;
  const hints = result.error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [];
    const { path } = issue;
    const valid = path.length === 0 ? keys : (NESTED_KEYS[path.join(".")] ?? []);
    return issue.keys.flatMap((key) => (path.length === 0 && whereKeyBelongs(key)) || hint(key, valid));
  });
  const message = [`Invalid ${what}:`, z.prettifyError(result.error), ...hints].join("\n");
  throw new CodexModelError("invalid_options", message, { cause: result.error });
}

function hint(key: string, valid: readonly string[]): string[] {
  const meant = suggestKey(key, valid);
  return meant === undefined ? [] : [`Did you mean "${meant}" instead of "${key}"?`];
}
