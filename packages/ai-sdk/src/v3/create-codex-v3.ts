import { NoSuchModelError } from "@ai-sdk/provider";
import { type CodexModelProvider, createCodex } from "../codex-provider/create-codex.ts";
import type { CodexSettings } from "../options/settings.ts";
import { asV3 } from "./as-v3.ts";
import type { ModelV3 } from "./model-v3.ts";

/** The provider for `ai` 6. Only its models differ. */
export interface CodexModelProviderV3
  extends AsyncDisposable, Pick<CodexModelProvider, "listModels" | "threads" | "close"> {
  (modelId?: string): ModelV3;
  readonly specificationVersion: "v3";
  languageModel(modelId?: string): ModelV3;
  /** Alias of `languageModel`. */
  chat(modelId?: string): ModelV3;
  /** Always throws `NoSuchModelError`: Codex has no embedding models. */
  embeddingModel(modelId: string): never;
  /** Always throws `NoSuchModelError`: Codex has no image models. */
  imageModel(modelId: string): never;
}

/**
 * Creates a provider for `ai` 6, which does not accept V4 models.
 * @example
 * await using codex = createCodexV3({ cwd: process.cwd() });
 * const { text } = await generateText({ model: codex("gpt-6.1-sol"), prompt: "Which test fails?" });
 */
export function createCodexV3(settings: CodexSettings = {}): CodexModelProviderV3 {
  const v4 = createCodex(settings);
  const languageModel = (modelId?: string): ModelV3 => asV3(v4(modelId));
  function provider(modelId?: string): ModelV3 {
    if (new.target) throw new TypeError("Call a codex provider without new: codex(modelId).");
    return languageModel(modelId);
  }
  return Object.assign(provider, {
    specificationVersion: "v3" as const,
    languageModel,
    chat: languageModel,
    embeddingModel: (modelId: string): never => {
      throw new NoSuchModelError({ modelId, modelType: "embeddingModel" });
    },
    imageModel: (modelId: string): never => {
      throw new NoSuchModelError({ modelId, modelType: "imageModel" });
    },
    listModels: (options?: { readonly signal?: AbortSignal }) => v4.listModels(options),
    threads: v4.threads,
    close: () => v4.close(),
    [Symbol.asyncDispose]: () => v4.close(),
  });
}
