// A provider on the real codex, and the parts of its streams, for tests.
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import type { Script, ScriptedModel } from "@codexkit/scripted-model";
import { launchCodex, type LaunchedCodex } from "@codexkit/testing";
import type { LaunchOptions } from "codexkit";
import { type CodexModelProvider, type CodexSettings, createCodex } from "../src/index.ts";

// The tests check warnings themselves, so the AI SDK does not print them.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

export interface CodexStage extends AsyncDisposable {
  readonly codex: CodexModelProvider;
  readonly model: ScriptedModel;
  readonly stage: LaunchedCodex;
  readonly workspace: string;
}

export interface StageOptions extends CodexSettings {
  readonly modelName?: string;
  /** How often Codex retries a failed model request. Default: 0. */
  readonly modelRetries?: number;
  readonly launchOptions?: LaunchOptions;
}

/** Creates a provider on a real codex that works in an empty folder, with a model that plays a script. */
export async function codexStage(script: Script, options: StageOptions = {}): Promise<CodexStage> {
  const { modelName, modelRetries = 0, launchOptions = {}, ...settings } = options;
  await using made = new AsyncDisposableStack();
  const stage = made.use(
    await launchCodex({
      ...launchOptions,
      model: script,
      modelRetries,
      ...(modelName === undefined ? {} : { modelName }),
    }),
  );
  const codex = made.use(createCodex({ codex: stage.codex, cwd: stage.workspace, ...settings }));
  const owner = made.move();
  return {
    codex,
    model: stage.model,
    stage,
    workspace: stage.workspace,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** A prompt with one user message. */
export function userPrompt(text: string): LanguageModelV4Prompt {
  return [{ role: "user", content: [{ type: "text", text }] }];
}

/** Returns all parts of a stream. */
export async function partsOf(
  model: LanguageModelV4,
  options: Partial<LanguageModelV4CallOptions> & { readonly prompt: LanguageModelV4Prompt },
): Promise<LanguageModelV4StreamPart[]> {
  const { stream } = await model.doStream(options);
  return Array.fromAsync(stream);
}

/** Returns the parts of one type. */
export function ofType<Type extends LanguageModelV4StreamPart["type"]>(
  parts: readonly LanguageModelV4StreamPart[],
  type: Type,
): Extract<LanguageModelV4StreamPart, { readonly type: Type }>[] {
  return parts.filter(
    (part): part is Extract<LanguageModelV4StreamPart, { readonly type: Type }> => part.type === type,
  );
}

/** Returns the thread id in a result's metadata. */
export function threadIdOf(metadata: SharedV4ProviderMetadata | undefined): string {
  const threadId = metadata?.["codex"]?.["threadId"];
  return typeof threadId === "string" ? threadId : "";
}

export function textOf(parts: readonly LanguageModelV4StreamPart[]): string {
  return ofType(parts, "text-delta")
    .map(({ delta }) => delta)
    .join("");
}
