import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** The thread that a prompt continues, and the last turn that the prompt contains. */
export interface ThreadOrigin {
  readonly threadId: string;
  readonly turnId: string | undefined;
}

/**
 * Returns the thread of the newest assistant message. An older message's thread is not used, because it lacks what another model
 * has said since, so the whole prompt needs a new thread.
 */
export function threadOf(prompt: LanguageModelV4Prompt): ThreadOrigin | undefined {
  const newest = prompt.findLast(({ role }) => role === "assistant");
  if (newest?.role !== "assistant") return undefined;
  const carriers = [newest, ...newest.content];
  for (const { providerOptions } of carriers.toReversed()) {
    const { threadId, turnId } = providerOptions?.["codex"] ?? {};
    if (typeof threadId === "string")
      return { threadId, turnId: typeof turnId === "string" ? turnId : undefined };
  }
  return undefined;
}
