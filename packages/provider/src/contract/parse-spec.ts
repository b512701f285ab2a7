import { isAbsolute } from "node:path";
import { z } from "zod";
import type { AgentSpec, SpecField } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";

const variables = z.record(z.string(), z.string());
const names = z.array(z.string().min(1));

// The maximum delay of a timer. A longer one would fire immediately.
const delay = z
  .int()
  .positive()
  .max(2 ** 31 - 1);

const mcpServer = z
  .strictObject({
    name: z.string().min(1),
    type: z.enum(["stdio", "http"]).optional(),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: variables.optional(),
    url: z.url().optional(),
    headers: variables.optional(),
  })
  .refine(({ type = "stdio", command, url }) => (type === "stdio" ? command : url) !== undefined, {
    error: "a stdio server needs a command, an http server a url",
  });

const fields = {
  prompt: z.string().min(1),
  cwd: z.string().refine(isAbsolute, { error: "must be an absolute path" }),
  env: variables.optional(),
  autonomous: z.boolean().optional(),
  sandboxEnabled: z.boolean().optional(),
  sandboxLevel: z.enum(["read-only", "workspace-write", "full-access"]).optional(),
  allowedTools: names.optional(),
  disallowedTools: names.optional(),
  mcpStdioServers: z
    .array(mcpServer)
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
      error: "two servers have the same name",
    })
    .optional(),
  mcpToolNames: names.optional(),
  maxTurns: z.int().positive().optional(),
  maxTokens: z.int().positive().optional(),
  maxCostUsd: z.number().positive().optional(),
  model: z.string().min(1).optional(),
  effort: z.enum(["low", "medium", "high", "xhigh"]).optional(),
  baseInstructions: z.string().optional(),
  systemPromptAppend: z.string().optional(),
  permissionConfig: z
    .strictObject({
      allowPatterns: z.array(z.string()).optional(),
      disallowPatterns: z.array(z.string()).optional(),
      defaultDecision: z.enum(["allow", "deny", "prompt"]).optional(),
    })
    .optional(),
  codeIntelligenceEnforcement: z
    .strictObject({ enforceUsage: z.boolean(), fallbackAfterAttempt: z.int().positive().optional() })
    .optional(),
  providerConfig: z.record(z.string(), z.unknown()).optional(),
  subAgentProvider: z.string().min(1).optional(),
  timeoutMs: delay.optional(),
  openTimeoutMs: delay.optional(),
  onProcessSpawned: z
    .custom<(pid: number) => void>((value) => typeof value === "function", { error: "must be a function" })
    .optional(),
} satisfies Record<SpecField, z.ZodType>;

/** Every field of a spec that a provider has to honour or list as ignored. */
export const SPEC_FIELDS = Object.keys(fields) as readonly SpecField[];

const schema: z.ZodType<AgentSpec> = z.strictObject({
  ...fields,
  required: z.array(z.enum(SPEC_FIELDS)).optional(),
});

/**
 * Validates a spec. Called once, at the entry point of a provider.
 * @throws {ProviderError} `invalid_spec`, with every invalid field.
 */
export function parseSpec(spec: unknown): AgentSpec {
  const parsed = schema.safeParse(spec);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "spec"}: ${message}`);
  throw new ProviderError("invalid_spec", `Invalid agent spec. ${problems.join("; ")}.`, {
    cause: parsed.error,
  });
}
