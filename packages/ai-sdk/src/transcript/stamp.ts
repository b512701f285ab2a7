import type { JSONObject, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { PROVIDER_KEY } from "../items/metadata.ts";
import { digestOf } from "./digest.ts";
import { callDigest, fileEntry, resultDigest } from "./entry.ts";
import { StepRecorder } from "./step-recorder.ts";

/** Metadata of a part that lets another process verify the messages that contain the part. */
export interface Stamp {
  /** Digest of the step's prompt. */
  readonly seen: string;
  /** Digest of the part's own content. */
  readonly digest?: string;
}

/** Records and stamps a step's parts. */
export class StampedStep {
  readonly recorder: StepRecorder = new StepRecorder();
  readonly #seen: string;

  /** @param seen Digest of the step's prompt. */
  constructor(seen: string) {
    this.#seen = seen;
  }

  add(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
    this.recorder.add(part);
    const metadata = "providerMetadata" in part ? part.providerMetadata?.[PROVIDER_KEY] : undefined;
    if (metadata === undefined || part.type === "finish") return part;
    const digest = this.#digestOf(part);
    const stamp: Stamp = { seen: this.#seen, ...(digest !== undefined && { digest }) };
    return {
      ...part,
      providerMetadata: { [PROVIDER_KEY]: { ...metadata, ...(stamp as unknown as JSONObject) } },
    } as LanguageModelV4StreamPart;
  }

  #digestOf(part: LanguageModelV4StreamPart): string | undefined {
    switch (part.type) {
      case "text-end":
        return digestOf(this.recorder.text(part.id));
      case "tool-call":
        return part.providerExecuted === true ? callDigest(part.toolName, JSON.parse(part.input)) : undefined;
      case "tool-result":
        return resultDigest(part.result);
      case "file":
        return fileEntry("assistant", part.data).digest;
      default:
        return undefined;
    }
  }
}
