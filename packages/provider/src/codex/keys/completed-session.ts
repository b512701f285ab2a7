import { type Codex, CodexError, type v2 } from "codexkit";
import type { AgentHandle } from "../../contract/agent-provider.ts";
import { EventStream } from "../../contract/event-stream.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { ProviderError } from "../../contract/provider-error.ts";

/** The last turn of a stored session. `missing` if the session does not exist or has no turn. */
export async function readLastTurn(codex: Codex, sessionId: string): Promise<v2.Turn | "missing"> {
  try {
    const params = { threadId: sessionId, limit: 1, sortDirection: "desc", itemsView: "full" } as const;
    const { data } = await codex.request("thread/turns/list", params);
    return data[0] ?? "missing";
  } catch (error) {
    if (error instanceof CodexError && error.code === "thread_not_found") return "missing";
    throw error;
  }
}

/** A handle of a completed session. Its stream repeats the last message and the result; nothing runs. */
export function completedSession(
  sessionId: string,
  turn: v2.Turn,
  ignored: readonly IgnoredField[],
): AgentHandle {
  const events = new EventStream({ kind: "init", sessionId, ignored, raw: turn });
  const last = turn.items.findLast((item) => item.type === "agentMessage");
  const message = last?.text ?? "";
  if (last && message !== "") events.push({ kind: "assistant_text", text: message, messageId: last.id });
  events.end({ kind: "result", success: true, message, errors: [], cost: {}, raw: turn });
  const stop = async (): Promise<void> => {};
  const inject = (): Promise<void> => {
    const text = `Session ${sessionId} has ended. Resume it with the text as its prompt.`;
    return Promise.reject(new ProviderError("session_ended", text));
  };
  return { sessionId, ignored, events, inject, stop, [Symbol.asyncDispose]: stop };
}
