import type { JSONObject, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** The key of this provider's options and metadata. */
export const PROVIDER_KEY = "codex";

/**
 * Metadata of each part. The messages of the next call carry it back, which identifies the conversation's thread.
 */
export interface PartMetadata {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId?: string;
  /** For messages: `"commentary"` while the agent works, `"final_answer"` for the answer. */
  readonly phase?: string;
  /** For reasoning: whether this is the summary or the raw reasoning. */
  readonly reasoning?: "summary" | "raw";
}

export function providerMetadata(metadata: PartMetadata | JSONObject): SharedV4ProviderMetadata {
  return { [PROVIDER_KEY]: { ...metadata } };
}
