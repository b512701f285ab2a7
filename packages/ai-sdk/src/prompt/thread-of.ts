import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** The thread that a prompt continues, and the last turn that it has seen. */
export interface ThreadOrigin {
  readonly threadId: string;
  readonly turnId: string | undefined;
}

/**
 * The thread of the newest assistant message. The thread of an older message lacks what another model has said since, so the
 * whole prompt needs a new thread.
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
