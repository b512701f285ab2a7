import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import type { CodexHolder } from "../codex-provider/codex-holder.ts";
import type { CallDefaults } from "./call-defaults.ts";
import { collect } from "./collect.ts";
import { readModelOptions } from "./model-options.ts";
import type { RunningCall } from "./run-call.ts";
import { PROVIDER_KEY } from "../stream/metadata.ts";

export interface LanguageModelConfig {
  readonly defaults: CallDefaults;
  readonly holder: CodexHolder;
}

/** Codex as a model of the AI SDK: a call is a turn, or the part of one up to where it needs its client. */
export class CodexLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider = "codex";
  readonly modelId: string;
  /** Codex fetches nothing by itself: the AI SDK downloads what a prompt links to. */
  readonly supportedUrls: Record<string, RegExp[]> = {};
  readonly #config: LanguageModelConfig;

  constructor(modelId: string, config: LanguageModelConfig) {
    this.modelId = modelId;
    this.#config = config;
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const { stream, request, call } = await this.#run(options, "stream");
    const { untilFirstPart } = await import("../stream/until-first-part.ts");
    return { stream: await untilFirstPart(stream, call.signal), request };
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const { stream, request, call } = await this.#run(options, "generate");
    const result = await collect(stream, call.format);
    call.signal?.throwIfAborted();
    return { ...result, request };
  }

  async #run(options: LanguageModelV4CallOptions, purpose: "stream" | "generate"): Promise<RunningCall> {
    const { defaults, holder } = this.#config;
    readModelOptions(options.providerOptions?.[PROVIDER_KEY]);
    options.abortSignal?.throwIfAborted();
    // Loaded at the first call, while Codex starts: a program that imports the provider need not wait for either.
    await holder.open();
    const { runCall } = await import("./run-call.ts");
    return runCall(this.modelId, defaults, holder, options, purpose);
  }
}
