import { z } from "zod";
import type { AgentCost } from "../../contract/agent-event.ts";

const count = z.int().nonnegative();
const optionalCount = count.nullish().transform((value) => value ?? 0);

/** Token counts in the protocol's format, which some agents send only in `_meta`. */
const tokenUsage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  totalTokens: count.nullish(),
  cachedReadTokens: optionalCount,
  cachedWriteTokens: optionalCount,
  thoughtTokens: optionalCount,
});

const snakeUsage = z
  .looseObject({ input_tokens: count, output_tokens: count })
  .transform((usage) => ({ inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }));

/** The tokens of a prompt: `usage` of the response, or `_meta.quota.token_count` of agents that don't send it. */
const promptUsage = z.union([
  z.looseObject({ usage: tokenUsage }).transform(({ usage }) => toCost(usage)),
  z
    .looseObject({
      _meta: z.looseObject({ quota: z.looseObject({ token_count: z.union([tokenUsage, snakeUsage]) }) }),
    })
    .transform(({ _meta: { quota } }) =>
      "totalTokens" in quota.token_count ? toCost(quota.token_count) : quota.token_count,
    ),
]);

type TokenUsage = z.infer<typeof tokenUsage>;

export function usageOfPrompt(response: unknown): AgentCost {
  const cost: AgentCost | undefined = promptUsage.safeParse(response).data;
  return cost ?? {};
}

/** The tokens of one model call, which some agents attach to a message chunk. */
export function usageOfChunk(meta: unknown): AgentCost | undefined {
  return z
    .looseObject({ usage: tokenUsage })
    .transform(({ usage }) => toCost(usage))
    .safeParse(meta).data;
}

/**
 * Agents disagree on whether input counts include cached tokens, and output counts thoughts; the total shows which of them does.
 * A cost includes both.
 */
function toCost(usage: TokenUsage): AgentCost {
  const { inputTokens, outputTokens, cachedReadTokens, cachedWriteTokens, thoughtTokens } = usage;
  const cached = cachedReadTokens + cachedWriteTokens;
  const total = usage.totalTokens ?? inputTokens + outputTokens;
  const excludes = (
    [
      [cached, thoughtTokens],
      [cached, 0],
      [0, thoughtTokens],
    ] as const
  ).find(([input, output]) => inputTokens + input + outputTokens + output === total);
  const [input, output] = excludes ?? [0, 0];
  return {
    inputTokens: inputTokens + input,
    outputTokens: outputTokens + output,
    cachedInputTokens: cachedReadTokens,
  };
}
