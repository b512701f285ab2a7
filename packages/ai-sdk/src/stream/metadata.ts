import type { JSONObject, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** The key of everything that this provider reads and writes beside the AI SDK's own fields. */
export const PROVIDER_KEY = "codex";

/**
 * What each part carries. It comes back with the messages of the next call, and is how a conversation finds its thread.
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
