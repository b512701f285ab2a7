import type {
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
} from "@ai-sdk/provider";
import { toV3File } from "./to-v3-file.ts";
import { toV3FinishReason, toV3Warning } from "./to-v3-part.ts";

/** Converts a V4 result. */
export function toV3Result(result: LanguageModelV4GenerateResult): LanguageModelV3GenerateResult {
  const { structuredOutputText, ...rest } = result;
  const content = result.content.flatMap(toV3Content);
  return {
    ...rest,
    content: structuredOutputText === undefined ? content : answerAlone(content, structuredOutputText),
    finishReason: toV3FinishReason(result.finishReason),
    warnings: result.warnings.map(toV3Warning),
  };
}

function toV3Content(part: LanguageModelV4Content): LanguageModelV3Content[] {
  switch (part.type) {
    case "custom":
      return [];
    case "file":
    case "reasoning-file":
      return [toV3File(part)];
    case "text": {
      const { citations: _citations, ...rest } = part;
      return [rest];
    }
    default:
      return [part];
  }
}

/**
 * Makes the answer the only text, by turning commentary before it into reasoning. V3 has no `structuredOutputText`: `ai` 6 parses
 * all text together as JSON.
 */
function answerAlone(content: readonly LanguageModelV3Content[], answer: string): LanguageModelV3Content[] {
  const at = content.findLastIndex((part) => part.type === "text" && part.text === answer);
  const others = content.map((part, index) =>
    part.type === "text" && index !== at ? { ...part, type: "reasoning" as const } : part,
  );
  return at === -1 ? [...others, { type: "text", text: answer }] : others;
}
