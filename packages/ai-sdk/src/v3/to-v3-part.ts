import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  SharedV3Warning,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { toV3File } from "./to-v3-file.ts";

/** Converts a part of a V4 stream. Returns undefined for parts that V3 does not have. */
export function toV3Part(part: LanguageModelV4StreamPart): LanguageModelV3StreamPart | undefined {
  switch (part.type) {
    case "ping":
    case "custom":
      return undefined;
    case "tool-result":
      // `ai` 6 treats each preliminary result as final and keeps all of them in its messages.
      return part.preliminary === true ? undefined : part;
    case "file":
    case "reasoning-file":
      return toV3File(part);
    case "text-end": {
      const { citations: _citations, ...rest } = part;
      return rest;
    }
    case "tool-input-start": {
      const { inputEncoding: _encoding, ...rest } = part;
      return rest;
    }
    case "stream-start":
      return { ...part, warnings: part.warnings.map(toV3Warning) };
    case "finish":
      return { ...part, finishReason: toV3FinishReason(part.finishReason) };
    default:
      return part;
  }
}

/** Maps interruptions to `other`, which V3 has instead and which also ends the loop. */
export function toV3FinishReason({ unified, raw }: LanguageModelV4FinishReason): LanguageModelV3FinishReason {
  return unified === "interrupted" ? { unified: "other", raw: raw ?? "interrupted" } : { unified, raw };
}

export function toV3Warning(warning: SharedV4Warning): SharedV3Warning {
  return warning.type === "deprecated"
    ? { type: "other", message: `${warning.setting}: ${warning.message}` }
    : warning;
}
