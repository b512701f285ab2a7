import {
  type EmbeddingModelV4,
  type ImageModelV4,
  NoSuchModelError,
  type ProviderV4,
} from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import { CodexLanguageModel } from "../model/codex-language-model.ts";
import { CONFIGURED_MODEL, type CodexModelId } from "../options/model-ids.ts";
import { CodexHolder, log, toCallError } from "../connection/codex-holder.ts";
import { callDefaults, type CodexModelSettings, readModelSettings } from "../options/model-settings.ts";
import { type CodexSettings, readSettings } from "../options/settings.ts";
import { CodexThreads } from "./codex-threads.ts";

/** An AI SDK provider. Call it to get a model; without an id, the model from Codex's configuration is used. */
export interface CodexModelProvider extends ProviderV4, AsyncDisposable {
  /** @param settings Override the provider's settings, including handlers and policy, for calls of this model. */
  (modelId?: CodexModelId, settings?: CodexModelSettings): CodexLanguageModel;
  languageModel(modelId?: CodexModelId, settings?: CodexModelSettings): CodexLanguageModel;
  /** Alias of `languageModel`. */
  chat(modelId?: CodexModelId, settings?: CodexModelSettings): CodexLanguageModel;
  /** Lists the models that Codex offers, in Codex's order. */
  listModels(options?: { readonly signal?: AbortSignal }): Promise<v2.Model[]>;
  /** Operations on threads, such as steer, interrupt, queue, fork, compact, read and list. */
  readonly threads: CodexThreads;
  /** Ends all turns. Also ends codex, unless it was passed in the settings. */
  close(): Promise<void>;
}

/**
 * Creates a provider. Codex is not started before the first call.
 *
 * @example
 * await using codex = createCodex({ cwd: process.cwd(), sandbox: "workspace-write" });
 * const { text } = await generateText({ model: codex("gpt-6.1-sol"), prompt: "Make the failing test pass" });
 */
export function createCodex(settings: CodexSettings = {}): CodexModelProvider {
  const checked = readSettings(settings);
  const holder = new CodexHolder(checked);
  const { logger } = checked;
  const onWarning = logger && ((message: string): void => log(() => logger.warn?.(message)));
  const provided = { ...checked, fetch: checked.fetch, onWarning };

  const languageModel = (
    modelId: CodexModelId = CONFIGURED_MODEL,
    own: CodexModelSettings = {},
  ): CodexLanguageModel =>
    new CodexLanguageModel(modelId, { defaults: callDefaults(provided, readModelSettings(own)), holder });

  function provider(modelId?: CodexModelId, own?: CodexModelSettings): CodexLanguageModel {
    if (new.target) throw new TypeError("Call a codex provider without new: codex(modelId).");
    return languageModel(modelId, own);
  }
  const close = (): Promise<void> => holder.close();
  return Object.assign(provider, {
    specificationVersion: "v4" as const,
    languageModel,
    chat: languageModel,
    embeddingModel: (modelId: string): EmbeddingModelV4 => {
      throw new NoSuchModelError({ modelId, modelType: "embeddingModel" });
    },
    imageModel: (modelId: string): ImageModelV4 => {
      throw new NoSuchModelError({ modelId, modelType: "imageModel" });
    },
    listModels: ({ signal }: { readonly signal?: AbortSignal } = {}) => listModels(holder, signal),
    threads: new CodexThreads(holder),
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** A provider with default settings. The first call launches the codex found on this machine. */
export const codex: CodexModelProvider = createCodex();

async function listModels(holder: CodexHolder, signal: AbortSignal | undefined): Promise<v2.Model[]> {
  const lease = await holder.lease(signal);
  try {
    return await Array.fromAsync(lease.codex.models.list(signal ? { signal } : {}));
  } catch (error) {
    throw await toCallError(error);
  } finally {
    lease.release();
  }
}
