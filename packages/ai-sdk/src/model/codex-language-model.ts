import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import type { CodexHolder } from "../connection/codex-holder.ts";
import type { CallDefaults } from "../options/model-settings.ts";
import { collect } from "./collect.ts";
import { readModelOptions } from "../options/model-options.ts";
import type { StepAnswers } from "../prompt/read-answers.ts";
import type { CallRequest } from "../call/read-call.ts";
import type { RunningCall } from "./run-call.ts";
import { PROVIDER_KEY } from "../items/metadata.ts";

export interface LanguageModelConfig {
  readonly defaults: CallDefaults;
  readonly holder: CodexHolder;
}

/** Codex as an AI SDK model. Each call runs a turn, or the part of it until a tool result or an approval is needed. */
export class CodexLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider = "codex";
  readonly modelId: string;
  /** Empty, because Codex fetches no URLs: the AI SDK downloads the files that a prompt links to. */
  readonly supportedUrls: Record<string, RegExp[]> = {};
  readonly #config: LanguageModelConfig;

  constructor(modelId: string, config: LanguageModelConfig) {
    this.modelId = modelId;
    this.#config = config;
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    return this.#stream(options);
  }

  /**
   * Continues a turn with the answers to its last step's requests. `doStream` and `doGenerate` find them in the prompt's messages;
   * this method is for callers that already have them, such as a harness.
   */
  async continueStream(
    options: Omit<LanguageModelV4CallOptions, "prompt"> & { readonly answers: StepAnswers },
  ): Promise<LanguageModelV4StreamResult> {
    return this.#stream(options);
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const { stream, request, call } = await this.#run(options, "generate");
    const result = await collect(stream, call.format);
    call.signal?.throwIfAborted();
    return { ...result, request };
  }

  async #stream(options: CallRequest): Promise<LanguageModelV4StreamResult> {
    const { stream, request, call } = await this.#run(options, "stream");
    const { untilFirstPart } = await import("../stream/until-first-part.ts");
    return { stream: await untilFirstPart(stream, call.signal), request };
  }

  async #run(options: CallRequest, purpose: "stream" | "generate"): Promise<RunningCall> {
    const { defaults, holder } = this.#config;
    readModelOptions(options.providerOptions?.[PROVIDER_KEY]);
    options.abortSignal?.throwIfAborted();
    // Loaded at the first call, while Codex starts, so that importing the provider stays fast.
    await holder.open();
    const { runCall } = await import("./run-call.ts");
    return runCall(this.modelId, defaults, holder, options, purpose);
  }
}
