import { z } from "zod";
import type { AgentErrorCode, AgentEvent, ErrorSubtype } from "../../contract/agent-event.ts";

const subagent = z.looseObject({ id: z.string().min(1), parentId: z.string().min(1) }).optional();
const count = z.int().nonnegative().optional();

/** The cost of a session: non-negative integers. */
export const costShape = z
  .looseObject({
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    usd: z.number().nonnegative().optional(),
    turns: count,
  })
  .refine(({ inputTokens, cachedInputTokens = 0 }) => cachedInputTokens <= (inputTokens ?? Infinity), {
    error: "cachedInputTokens is larger than inputTokens",
  });

const ERROR_SUBTYPES = [
  "stopped",
  "max_turns",
  "deadline_exceeded",
  "budget_exceeded",
  "refused",
  "token_limit",
  "authentication_failed",
  "rate_limited",
  "quota_exceeded",
  "server_error",
  "execution_failed",
] as const satisfies readonly ErrorSubtype[];

const ERROR_CODES = [
  "app_server_crashed",
  "context_cancelled",
  "provider_shutdown",
  "provider_failed",
] as const satisfies readonly AgentErrorCode[];

const toolOf = { toolUseId: z.string().min(1), toolName: z.string().min(1), subagent };

/** The events of the contract, for providers that were not type-checked. Unknown fields are accepted. */
export const eventShape = z.discriminatedUnion("kind", [
  z.looseObject({
    kind: z.literal("init"),
    sessionId: z.string().min(1),
    ignored: z.array(z.looseObject({ field: z.string(), reason: z.string().min(1) })),
  }),
  z.looseObject({ kind: z.literal("system"), subtype: z.string().min(1), message: z.string(), subagent }),
  z.looseObject({
    kind: z.literal("assistant_text"),
    text: z.string(),
    messageId: z.string().optional(),
    subagent,
  }),
  z.looseObject({
    kind: z.literal("tool_use"),
    ...toolOf,
    toolCategory: z.enum(["command", "edit", "mcp", "search", "agent", "approval", "question", "other"]),
  }),
  z.looseObject({ kind: z.literal("tool_result"), ...toolOf, content: z.string(), isError: z.boolean() }),
  z.looseObject({
    kind: z.literal("tool_progress"),
    ...toolOf,
    elapsedSeconds: z.number().nonnegative(),
    output: z.string().optional(),
  }),
  z.looseObject({
    kind: z.literal("usage"),
    cost: z.looseObject({}),
    model: z.string().optional(),
    subagent,
  }),
  z
    .looseObject({
      kind: z.literal("result"),
      success: z.boolean(),
      message: z.string(),
      errors: z.array(z.string()),
      errorSubtype: z.enum(ERROR_SUBTYPES).optional(),
      reason: z.string().optional(),
      retryable: z.boolean().optional(),
      cost: z.looseObject({}),
    })
    .refine(({ success, errorSubtype }) => success === (errorSubtype === undefined), {
      error: "`errorSubtype` is set exactly when `success` is false",
    })
    .refine(({ success, retryable }) => success === (retryable === undefined), {
      error: "`retryable` is set exactly when `success` is false",
    })
    .refine(({ success, errors }) => success || errors.length > 0, {
      error: "`errors` is empty although it failed",
    }),
  z.looseObject({
    kind: z.literal("error"),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    retryable: z.boolean(),
    cost: z.looseObject({}),
  }),
]) satisfies z.ZodType<{ readonly kind: AgentEvent["kind"] }>;
