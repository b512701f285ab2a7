import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import type { CodexHolder, Lease } from "../codex-provider/codex-holder.ts";
import type { CodexSettings } from "../codex-provider/settings.ts";
import { beginStep, type Step } from "../session/begin-step.ts";
import { stepStream } from "../stream/step-stream.ts";
import { toModelError } from "../stream/turn-error.ts";
import { collect } from "./collect.ts";
import { type Call, readCall } from "./read-call.ts";

export interface LanguageModelConfig {
  readonly settings: CodexSettings;
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
    const { stream, request } = await this.#stream(options, "stream");
    return { stream, request };
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const { stream, request, call } = await this.#stream(options, "generate");
    const result = await collect(stream, call.format);
    call.signal?.throwIfAborted();
    return { ...result, request };
  }

  async #stream(
    options: LanguageModelV4CallOptions,
    purpose: "stream" | "generate",
  ): Promise<{
    readonly stream: ReadableStream<LanguageModelV4StreamPart>;
    readonly request: { readonly body: unknown };
    readonly call: Call;
  }> {
    const { settings, holder } = this.#config;
    const call = await readCall(this.modelId, settings, options);
    call.signal?.throwIfAborted();
    const lease = await holder.lease(call.signal);
    try {
      const step = await beginStep(lease.sessions, call);
      step.run.parts.beginStep(purpose === "generate");
      void step.run.ended.then(() => lease.rest());
      const stream = this.#streamOf(step, call, lease);
      return { stream, request: { body: requestBody(step, call) }, call };
    } catch (error) {
      lease.release();
      throw toModelError(error);
    }
  }

  #streamOf(
    { session, run, answered, warnings }: Step,
    call: Call,
    lease: Lease,
  ): ReadableStream<LanguageModelV4StreamPart> {
    return stepStream({
      run,
      opening: [
        { type: "stream-start", warnings: [...call.warnings, ...warnings] },
        {
          type: "response-metadata",
          id: run.turnId,
          timestamp: new Date(),
          modelId: call.model ?? session.thread.settings.model,
        },
        ...answered.flatMap(({ approvalId, approved }) => run.parts.answered(approvalId, approved)),
      ],
      includeRaw: call.includeRaw,
      signal: call.signal,
      onAsks: () => {
        // The codex is needed until the client is back; the program need not stay for that.
        lease.rest();
        session.park(() => lease.release());
      },
      onEnd: () => {
        if (session.run === run) session.run = undefined;
        lease.release();
      },
    });
  }
}

/** Without the options: they may hold the secrets of MCP servers, and bodies are logged. */
function requestBody({ session, run }: Step, { prompt, model }: Call): unknown {
  return { threadId: session.thread.id, turnId: run.turnId, model, input: prompt.input };
}
