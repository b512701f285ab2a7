import { listOf, type ModelApi, recordOf, type SentEvent, stringOf } from "./model-api.ts";
import { type ModelMessage, type ModelReply, REPLY_USAGE } from "./model-script.ts";

/** The Gemini API's `generateContent` and `streamGenerateContent`. */
export const geminiContent: ModelApi = {
  parse: (path, body) => {
    const method = /:(?<method>streamGenerateContent|generateContent)$/.exec(path)?.groups?.["method"];
    if (method === undefined) return undefined;
    const { contents, tools, generationConfig } = recordOf(body);
    const wantsJson = recordOf(generationConfig)["responseMimeType"] === "application/json";
    return {
      request: {
        messages: listOf(contents).map(toMessage),
        // Side jobs that ask for JSON may include the conversation's tools.
        tools: wantsJson
          ? []
          : listOf(tools).flatMap((tool) =>
              listOf(tool["functionDeclarations"]).map(({ name }) => stringOf(name)),
            ),
      },
      streams: method === "streamGenerateContent",
      write: (reply) => [toResponse(wantsJson ? { type: "text", text: "{}" } : reply)],
    };
  },
  answer: (_method, path) => {
    if (path.endsWith(":countTokens")) return { totalTokens: REPLY_USAGE.inputTokens };
    return path.endsWith("/models") ? { models: [] } : undefined;
  },
};

function toMessage({ role, parts }: Record<string, unknown>): ModelMessage {
  return {
    role: role === "model" ? "assistant" : "user",
    text: listOf(parts)
      .map(({ text }) => stringOf(text))
      .join("\n"),
    toolResults: listOf(parts).filter((part) => part["functionResponse"] !== undefined).length,
  };
}

function toResponse(reply: ModelReply): SentEvent {
  const part =
    reply.type === "call" ? { functionCall: { name: reply.tool, args: reply.input } } : { text: reply.text };
  const candidate = {
    index: 0,
    content: { role: "model", parts: [part] },
    // Without it, the reply counts as incomplete.
    ...(reply.type === "hang" ? {} : { finishReason: "STOP" }),
  };
  return {
    data: {
      candidates: [candidate],
      usageMetadata: {
        promptTokenCount: REPLY_USAGE.inputTokens,
        cachedContentTokenCount: REPLY_USAGE.cachedInputTokens,
        candidatesTokenCount: REPLY_USAGE.outputTokens,
        totalTokenCount: REPLY_USAGE.inputTokens + REPLY_USAGE.outputTokens,
      },
    },
  };
}
