import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { type ReadPrompt, readPrompt } from "../prompt/read-prompt.ts";
import type { CodexSettings } from "../codex-provider/settings.ts";
import { PROVIDER_KEY } from "../stream/metadata.ts";
import { type AnswerFormat, answerFormat } from "./answer-format.ts";
import { type CodexLanguageModelOptions, readModelOptions } from "./model-options.ts";
import { unsupportedSettings } from "./unsupported.ts";

/** One call of the model, read: what the prompt says, and how the turn is to run. */
export interface Call {
  /** Undefined leaves it to Codex's configuration. */
  readonly model: string | undefined;
  readonly prompt: ReadPrompt;
  /** The calls of tools that the messages show. */
  readonly knownCalls: ReadonlySet<string>;
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** The provider's settings with the call's own over them. */
  readonly options: CodexLanguageModelOptions;
  /** The developer's instructions, system messages included. */
  readonly instructions: string | undefined;
  readonly format: AnswerFormat;
  readonly warnings: readonly SharedV4Warning[];
  readonly includeRaw: boolean;
  readonly signal: AbortSignal | undefined;
  /** The signal, as calls to Codex take it. */
  readonly callOptions: { readonly signal?: AbortSignal };
}

/** The model id that stands for whatever Codex is configured with. */
export const CONFIGURED_MODEL = "default";

export async function readCall(
  modelId: string,
  settings: CodexSettings,
  given: LanguageModelV4CallOptions,
): Promise<Call> {
  const own = readModelOptions(given.providerOptions?.[PROVIDER_KEY]);
  const options = { ...sharedOf(settings), ...own, ...effortOf(given.reasoning) };
  const tools = offeredTools(given);
  const callOptions = given.abortSignal ? { signal: given.abortSignal } : {};
  const prompt = await readPrompt(given.prompt, {
    tools: new Set(tools.map(({ name }) => name)),
    ...callOptions,
    ...(settings.fetch && { fetch: settings.fetch }),
  });
  const format = answerFormat(given.responseFormat);
  const instructions = [settings.instructions, own.instructions, prompt.instructions];
  return {
    model: modelId === CONFIGURED_MODEL ? undefined : modelId,
    prompt,
    knownCalls: knownCalls(given.prompt),
    tools,
    options,
    instructions: instructions.filter((text) => text !== undefined).join("\n\n") || undefined,
    format,
    warnings: [...unsupportedSettings(given), ...format.warnings, ...prompt.warnings],
    includeRaw: given.includeRawChunks ?? false,
    signal: given.abortSignal,
    callOptions,
  };
}

function sharedOf(settings: CodexSettings): CodexLanguageModelOptions {
  const { cwd, sandbox, approvalPolicy, effort, summary, serviceTier, persist } = settings;
  const { mcpServers, baseInstructions, config } = settings;
  const shared = { cwd, sandbox, approvalPolicy, effort, summary, serviceTier, persist };
  return { ...shared, mcpServers, baseInstructions, config };
}

function offeredTools({ tools = [], toolChoice }: LanguageModelV4CallOptions): LanguageModelV4FunctionTool[] {
  return toolChoice?.type === "none" ? [] : tools.filter((tool) => tool.type === "function");
}

function effortOf(reasoning: LanguageModelV4CallOptions["reasoning"]): { readonly effort?: string } {
  return reasoning === undefined || reasoning === "provider-default" ? {} : { effort: reasoning };
}

function knownCalls(prompt: LanguageModelV4Prompt): ReadonlySet<string> {
  const said = prompt.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return new Set(said.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])));
}
