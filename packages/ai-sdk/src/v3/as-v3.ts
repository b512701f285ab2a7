import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { GenerateResultV3, ModelV3, StreamPartV3 } from "./model-v3.ts";
import { toV3Part } from "./to-v3-part.ts";
import { toV3Result } from "./to-v3-result.ts";
import { toV4Options } from "./to-v4-options.ts";

/**
 * Converts a model for `ai` 6, which accepts V3 models only.
 * @example
 * const { text } = await generateText({ model: asV3(codex("gpt-6.1-sol")), prompt: "Which test fails?" });
 */
export function asV3(model: LanguageModelV4): ModelV3 {
  return {
    specificationVersion: "v3",
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate: async (options) =>
      toV3Result(await model.doGenerate(toV4Options(options))) as GenerateResultV3,
    doStream: async (options) => {
      const { stream, ...rest } = await model.doStream(toV4Options(options));
      return { ...rest, stream: stream.pipeThrough(toV3Stream()) };
    },
  };
}

function toV3Stream(): TransformStream<LanguageModelV4StreamPart, StreamPartV3> {
  return new TransformStream({
    transform(part, controller) {
      const converted = toV3Part(part);
      if (converted !== undefined) controller.enqueue(converted as StreamPartV3);
    },
  });
}
