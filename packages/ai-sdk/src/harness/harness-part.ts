import type { HarnessV1CallWarning, HarnessV1Metadata, HarnessV1StreamPart } from "@ai-sdk/harness";
import type {
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { harnessName, isBuiltin } from "./builtin-tools.ts";

/**
 * Converts a part of the model's stream to a harness part. `HarnessTurn` emits the ends of steps and turns. Parts without a
 * harness type are passed on as `raw`.
 */
export function harnessPart(
  part: Exclude<LanguageModelV4StreamPart, { type: "finish" | "error" }>,
): HarnessV1StreamPart | undefined {
  switch (part.type) {
    case "stream-start":
      return { type: "stream-start", warnings: part.warnings.map(toWarning) };
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
      return { type: part.type, id: part.id, ...metadata(part.providerMetadata) };
    case "text-delta":
    case "reasoning-delta":
      return { type: part.type, id: part.id, delta: part.delta, ...metadata(part.providerMetadata) };
    case "tool-input-start": {
      const { toolName } = harnessName(part.toolName);
      return { ...part, toolName, ...unlessBuiltin(toolName, part) };
    }
    case "tool-call":
      return renamed(part);
    case "tool-result":
      // An agent treats the first result as final.
      return part.preliminary === true ? undefined : renamed(part);
    case "tool-input-delta":
    case "tool-input-end":
    case "tool-approval-request":
    case "raw":
      return part;
    case "custom":
      return part.kind === "codex.context_compaction"
        ? { type: "compaction", trigger: "auto", summary: "", ...metadata(part.providerMetadata) }
        : { type: "raw", rawValue: part };
    case "ping":
    case "response-metadata":
      return undefined;
    default:
      return { type: "raw", rawValue: part };
  }
}

function renamed(part: LanguageModelV4ToolCall | LanguageModelV4ToolResult): HarnessV1StreamPart {
  const { toolName, nativeName } = harnessName(part.toolName);
  const { dynamic: _dynamic, ...rest } = part;
  const named = { ...rest, toolName, ...unlessBuiltin(toolName, part) };
  return named.type === "tool-call" && nativeName !== undefined ? { ...named, nativeName } : named;
}

/** Tools that the harness lists are statically typed; all others are dynamic. */
function unlessBuiltin(toolName: string, { dynamic }: { dynamic?: boolean }): { dynamic?: boolean } {
  return isBuiltin(toolName) || dynamic === undefined ? {} : { dynamic };
}

function metadata(given: SharedV4ProviderMetadata | undefined): { harnessMetadata?: HarnessV1Metadata } {
  // The values are JSON. Only the types of an older release forbid undefined fields.
  return given === undefined ? {} : { harnessMetadata: given as HarnessV1Metadata };
}

function toWarning(warning: SharedV4Warning): HarnessV1CallWarning {
  switch (warning.type) {
    case "unsupported":
    case "compatibility":
      return {
        type: "unsupported-setting",
        setting: warning.feature,
        ...(warning.details === undefined ? {} : { details: warning.details }),
      };
    case "deprecated":
      return { type: "other", message: `${warning.setting}: ${warning.message}` };
    default:
      return { type: "other", message: warning.message };
  }
}
