import { listOf, type ModelApi, recordOf, type SentEvent, stringOf } from "./model-api.ts";
import { type ModelMessage, type ModelReply, REPLY_USAGE } from "./model-script.ts";

/** OpenAI's Chat Completions API, which most other vendors support too. */
export const chatCompletions: ModelApi = {
  parse: (path, body) => {
    if (!path.endsWith("/chat/completions")) return undefined;
    const { model, messages, tools, stream } = recordOf(body);
    return {
      request: {
        messages: listOf(messages)
          .filter(({ role }) => role !== "system" && role !== "developer")
          .map(toMessage),
        tools: listOf(tools).map((tool) => stringOf(recordOf(tool["function"])["name"])),
      },
      streams: stream === true,
      write: (reply) =>
        stream === true ? toChunks(reply, stringOf(model)) : [toBody(reply, stringOf(model))],
    };
  },
  answer: (_method, path) => (path.endsWith("/models") ? { object: "list", data: [] } : undefined),
};

function toMessage({ role, content }: Record<string, unknown>): ModelMessage {
  const parts = typeof content === "string" ? [{ text: content }] : listOf(content);
  return {
    role: role === "assistant" ? "assistant" : "user",
    // A tool result may repeat the order that led to it. Only user messages count.
    text: role === "tool" ? "" : parts.map((part) => stringOf(recordOf(part)["text"])).join("\n"),
    toolResults: role === "tool" ? 1 : 0,
  };
}

const usage = {
  prompt_tokens: REPLY_USAGE.inputTokens,
  completion_tokens: REPLY_USAGE.outputTokens,
  total_tokens: REPLY_USAGE.inputTokens + REPLY_USAGE.outputTokens,
  prompt_tokens_details: { cached_tokens: REPLY_USAGE.cachedInputTokens },
};

function messageOf(reply: ModelReply): Record<string, unknown> {
  if (reply.type !== "call") return { role: "assistant", content: reply.text };
  const call = { name: reply.tool, arguments: JSON.stringify(reply.input) };
  const id = `call_${crypto.randomUUID()}`;
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ index: 0, id, type: "function", function: call }],
  };
}

function finishReason({ type }: ModelReply): string {
  return type === "call" ? "tool_calls" : "stop";
}

function toBody(reply: ModelReply, model: string): SentEvent {
  const choice = { index: 0, message: messageOf(reply), finish_reason: finishReason(reply) };
  return { data: { ...completion(model, "chat.completion"), choices: [choice], usage } };
}

function toChunks(reply: ModelReply, model: string): readonly SentEvent[] {
  const base = completion(model, "chat.completion.chunk");
  const chunk = (delta: object, reason: string | null): SentEvent => ({
    data: { ...base, choices: [{ index: 0, delta, finish_reason: reason }] },
  });
  const first = chunk(messageOf(reply), null);
  if (reply.type === "hang") return [first];
  return [
    first,
    chunk({}, finishReason(reply)),
    { data: { ...base, choices: [], usage } },
    { data: "[DONE]" },
  ];
}

function completion(model: string, object: string): Record<string, unknown> {
  return { id: `chatcmpl-${crypto.randomUUID()}`, object, created: 0, model };
}
