import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { ApprovalSettings } from "../options/approval-settings.ts";
import { extractMentions } from "../prompt/extract-mentions.ts";
import { readAnswers, type StepAnswers } from "../prompt/read-answers.ts";
import { type ReadPrompt, readPrompt } from "../prompt/read-prompt.ts";
import { PROVIDER_KEY } from "../items/metadata.ts";
import { defineProviderTools, type ProviderTool } from "../tools/provider-tools.ts";
import { type AnswerFormat, answerFormat } from "./answer-format.ts";
import type { CallDefaults } from "../options/model-settings.ts";
import { CONFIGURED_MODEL } from "../options/model-ids.ts";
import { mergeOptions } from "../options/merge-options.ts";
import { readModelOptions } from "../options/model-options.ts";
import type { CodexLanguageModelOptions } from "../options/options.ts";
import { unsupportedSettings } from "./unsupported.ts";

/** A parsed model call: the prompt and the turn's settings. */
export interface Call {
  /** If undefined, the model from Codex's configuration is used. */
  readonly model: string | undefined;
  readonly prompt: ReadPrompt;
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** Tools that the provider runs, except those that the call replaces. */
  readonly providerTools: readonly ProviderTool[];
  /** The provider's settings, overridden by the call's options. */
  readonly options: CodexLanguageModelOptions;
  readonly approvals: ApprovalSettings;
  /** Developer instructions, including the system messages. */
  readonly instructions: string | undefined;
  readonly format: AnswerFormat;
  readonly warnings: readonly SharedV4Warning[];
  readonly includeRaw: boolean;
  readonly signal: AbortSignal | undefined;
  /** The signal as an options object for calls to Codex. */
  readonly callOptions: { readonly signal?: AbortSignal };
}

type CallSettings = Omit<LanguageModelV4CallOptions, "prompt">;

/** Input of a call: a prompt, or the answers to the previous step's requests. */
export type CallRequest = CallSettings &
  ({ readonly prompt: LanguageModelV4Prompt } | { readonly answers: StepAnswers });

export async function readCall(modelId: string, defaults: CallDefaults, given: CallRequest): Promise<Call> {
  const own = readModelOptions(given.providerOptions?.[PROVIDER_KEY]);
  const merged = { ...mergeOptions(defaults.options, own), ...effortOf(given.reasoning) };
  const tools = offeredTools(given);
  const callOptions = given.abortSignal ? { signal: given.abortSignal } : {};
  const context = { ...callOptions, ...(defaults.fetch && { fetch: defaults.fetch }) };
  const prompt =
    "answers" in given
      ? await readAnswers(given.answers, context)
      : await readPrompt(given.prompt, { ...context, tools: new Set(tools.map(({ name }) => name)) });
  const format = answerFormat(given.responseFormat);
  const instructions = [merged.instructions, prompt.instructions];
  return {
    model: modelId === CONFIGURED_MODEL ? undefined : modelId,
    prompt,
    tools,
    providerTools: defineProviderTools(withoutNames(defaults.tools, tools), defaults.toolTimeoutMs),
    options: withMentions(merged, prompt),
    approvals: defaults.approvals,
    instructions: instructions.filter((text) => text !== undefined).join("\n\n") || undefined,
    format,
    warnings: [...unsupportedSettings(given), ...format.warnings, ...prompt.warnings],
    includeRaw: given.includeRawChunks ?? false,
    signal: given.abortSignal,
    callOptions,
  };
}

function withMentions(options: CodexLanguageModelOptions, { input }: ReadPrompt): CodexLanguageModelOptions {
  if (options.extractMentions !== true) return options;
  const text = input.map((part) => ("text" in part ? part.text : "")).join("\n");
  const { skills, mentions } = extractMentions(text, options.cwd ?? process.cwd());
  return {
    ...options,
    skills: [...(options.skills ?? []), ...skills],
    mentions: [...(options.mentions ?? []), ...mentions],
  };
}

function offeredTools({ tools = [], toolChoice }: CallSettings): LanguageModelV4FunctionTool[] {
  return toolChoice?.type === "none" ? [] : tools.filter((tool) => tool.type === "function");
}

/** A call's tool replaces the provider's tool of the same name, because the narrower scope takes precedence. */
function withoutNames(
  providerTools: CallDefaults["tools"],
  tools: readonly LanguageModelV4FunctionTool[],
): CallDefaults["tools"] {
  const names = new Set(tools.map(({ name }) => name));
  return Object.fromEntries(Object.entries(providerTools).filter(([name]) => !names.has(name)));
}

function effortOf(reasoning: LanguageModelV4CallOptions["reasoning"]): { readonly effort?: string } {
  return reasoning === undefined || reasoning === "provider-default" ? {} : { effort: reasoning };
}
