import type { LanguageModelV4Usage } from "@ai-sdk/provider";

/** The tokens of two steps together; what neither knows stays unknown. */
export function addUsage(one: LanguageModelV4Usage, other: LanguageModelV4Usage): LanguageModelV4Usage {
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
  };
}

function sum<Counts extends Record<string, number | undefined>>(one: Counts, other: Counts): Counts {
  const keys = Object.keys({ ...one, ...other });
  return Object.fromEntries(
    keys.map((key) => {
      const [a, b] = [one[key], other[key]];
      return [key, a === undefined ? b : a + (b ?? 0)];
    }),
  ) as Counts;
}
