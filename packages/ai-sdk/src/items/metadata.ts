import type { JSONObject, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** The key of this provider's options and metadata. */
export const PROVIDER_KEY = "codex";

/**
 * Metadata of each part. It returns with the messages of the next call, which identifies the conversation's thread.
 */
export interface PartMetadata {
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId?: string;
  /** Of a message: `"commentary"` while the agent works, `"final_answer"` for the answer. */
  readonly phase?: string;
  /** Of reasoning: whether it is the summary or the thought itself. */
  readonly reasoning?: "summary" | "raw";
}

export function providerMetadata(metadata: PartMetadata | JSONObject): SharedV4ProviderMetadata {
  return { [PROVIDER_KEY]: { ...metadata } };
}
