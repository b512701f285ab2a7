import type { LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider";

const NO_SAMPLING = "Codex controls sampling.";

/** AI SDK settings that Codex does not support. */
const UNSUPPORTED = {
  maxOutputTokens: "Codex does not limit the length of a turn.",
  temperature: NO_SAMPLING,
  topP: NO_SAMPLING,
  topK: NO_SAMPLING,
  presencePenalty: NO_SAMPLING,
  frequencyPenalty: NO_SAMPLING,
  seed: NO_SAMPLING,
  stopSequences: "A turn ends when the agent is done.",
} as const satisfies Partial<Record<keyof LanguageModelV4CallOptions, string>>;

/** Returns a warning for each setting that has no effect. */
export function unsupportedSettings(options: Omit<LanguageModelV4CallOptions, "prompt">): SharedV4Warning[] {
  const settings = Object.entries(UNSUPPORTED).filter(([name]) =>
    isSet(options[name as keyof typeof UNSUPPORTED]),
  );
  return [
    ...settings.map(([feature, details]): SharedV4Warning => ({ type: "unsupported", feature, details })),
    ...headerWarning(options.headers),
    ...toolChoiceWarning(options.toolChoice),
    ...providerToolWarnings(options.tools),
  ];
}

function isSet(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** The AI SDK always adds a user-agent header, which needs no warning. */
function headerWarning(headers: LanguageModelV4CallOptions["headers"]): SharedV4Warning[] {
  const names = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    value === undefined || name.toLowerCase() === "user-agent" ? [] : [name],
  );
  if (names.length === 0) return [];
  const details = `Codex sends its own requests, so ${names.join(", ")} can't be added.`;
  return [{ type: "unsupported", feature: "headers", details }];
}

function toolChoiceWarning(choice: LanguageModelV4CallOptions["toolChoice"]): SharedV4Warning[] {
  if (choice === undefined || choice.type === "auto" || choice.type === "none") return [];
  const details = "The tools are offered, but Codex can't force the model to call one.";
  return [{ type: "unsupported", feature: `toolChoice ${choice.type}`, details }];
}

function providerToolWarnings(tools: LanguageModelV4CallOptions["tools"]): SharedV4Warning[] {
  return (tools ?? []).flatMap((tool): SharedV4Warning[] =>
    tool.type === "provider"
      ? [{ type: "unsupported", feature: `tool ${tool.id}`, details: "Codex has its own built-in tools." }]
      : [],
  );
}
