import { listOf, type ModelApi, recordOf, type SentEvent, stringOf } from "./model-api.ts";
import { type ModelMessage, type ModelReply, REPLY_USAGE } from "./model-script.ts";

/** Anthropic's Messages API. */
export const anthropicMessages: ModelApi = {
  parse: (path, body) => {
    if (!path.endsWith("/v1/messages")) return undefined;
    const { model, messages, tools, stream } = recordOf(body);
    return {
      request: {
        messages: listOf(messages).map(toMessage),
        tools: listOf(tools).map(({ name }) => stringOf(name)),
      },
      streams: stream === true,
      write: (reply) =>
        stream === true ? toEvents(reply, stringOf(model)) : [toBody(reply, stringOf(model))],
    };
  },
  answer: (_method, path) => {
    if (path.endsWith("/count_tokens")) return { input_tokens: REPLY_USAGE.inputTokens };
    return path.endsWith("/v1/models") ? { data: [], has_more: false } : undefined;
  },
};

function toMessage({ role, content }: Record<string, unknown>): ModelMessage {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
  return {
    role: role === "assistant" ? "assistant" : "user",
    text: parts.map((part) => stringOf(recordOf(part)["text"])).join("\n"),
    toolResults: parts.filter(({ type }) => type === "tool_result").length,
  };
}

const usage = {
  // Anthropic's `input_tokens` excludes cached tokens.
  input_tokens: REPLY_USAGE.inputTokens - REPLY_USAGE.cachedInputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: REPLY_USAGE.cachedInputTokens,
  output_tokens: REPLY_USAGE.outputTokens,
};

function newMessage(model: string): Record<string, unknown> {
  const id = `msg_${crypto.randomUUID()}`;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
}

function blockOf(reply: ModelReply): Record<string, unknown> {
  return reply.type === "call"
    ? { type: "tool_use", id: `toolu_${crypto.randomUUID()}`, name: reply.tool, input: reply.input }
    : { type: "text", text: reply.text };
}

function stopReason({ type }: ModelReply): string {
  return type === "call" ? "tool_use" : "end_turn";
}

function toBody(reply: ModelReply, model: string): SentEvent {
  return { data: { ...newMessage(model), content: [blockOf(reply)], stop_reason: stopReason(reply) } };
}

function toEvents(reply: ModelReply, model: string): readonly SentEvent[] {
  const block = blockOf(reply);
  const delta =
    reply.type === "call"
      ? { type: "input_json_delta", partial_json: JSON.stringify(reply.input) }
      : { type: "text_delta", text: reply.text };
  const empty = reply.type === "call" ? { ...block, input: {} } : { ...block, text: "" };
  const events: Record<string, unknown>[] = [
    { type: "message_start", message: newMessage(model) },
    { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta },
  ];
  if (reply.type !== "hang") {
    events.push(
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage },
      { type: "message_stop" },
    );
  }
  return events.map((data) => ({ name: stringOf(data["type"]), data }));
}
