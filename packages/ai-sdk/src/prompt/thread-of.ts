import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** The thread that a prompt continues, and the last turn that it has seen. */
export interface ThreadOrigin {
  readonly threadId: string;
  readonly turnId: string | undefined;
}

/**
 * The thread of the newest assistant message. An older message's would not do: what another model said since then is not in
 * that thread, and the whole prompt has to go into a fresh one.
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
