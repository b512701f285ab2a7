import { describe, expect, it } from "vitest";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { FakeEndpoint } from "./fake-endpoint.ts";
import { geminiContent } from "./gemini-content.ts";
import type { ModelApi } from "./model-api.ts";
import { type AgentTools, order, playOrder, PROBE_COMMAND } from "./model-script.ts";

const TOOLS: AgentTools = { command: (command) => ({ type: "call", tool: "shell", input: { command } }) };

interface ApiCase {
  readonly name: string;
  readonly api: ModelApi;
  readonly path: string;
  /** Builds a request with one tool, a user message and, optionally, a tool result. */
  readonly body: (text: string, hasResult: boolean) => object;
}

const APIS: readonly ApiCase[] = [
  {
    name: "Anthropic Messages",
    api: anthropicMessages,
    path: "/v1/messages",
    body: (text, hasResult) => ({
      model: "m",
      stream: true,
      tools: [{ name: "shell" }],
      messages: [
        { role: "user", content: [{ type: "text", text }] },
        ...(hasResult ? [{ role: "user", content: [{ type: "tool_result", content: "x" }] }] : []),
      ],
    }),
  },
  {
    name: "chat completions",
    api: chatCompletions,
    path: "/v1/chat/completions",
    body: (text, hasResult) => ({
      model: "m",
      stream: true,
      tools: [{ type: "function", function: { name: "shell" } }],
      messages: [
        { role: "system", content: "[[say system]]" },
        { role: "user", content: text },
        ...(hasResult ? [{ role: "tool", content: "x" }] : []),
      ],
    }),
  },
  {
    name: "Gemini",
    api: geminiContent,
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: (text, hasResult) => ({
      tools: [{ functionDeclarations: [{ name: "shell" }] }],
      contents: [
        { role: "user", parts: [{ text }] },
        ...(hasResult ? [{ role: "user", parts: [{ functionResponse: { name: "shell" } }] }] : []),
      ],
    }),
  },
];

function start(api: ModelApi): Promise<FakeEndpoint> {
  return FakeEndpoint.start(api, (request) => playOrder(request, TOOLS));
}

function post(endpoint: FakeEndpoint, path: string, body: object): Promise<Response> {
  return fetch(endpoint.url + path, { method: "POST", body: JSON.stringify(body) });
}

describe.each(APIS)("a fake endpoint of $name", ({ api, path, body }) => {
  it("replies with the text of the order, and reports usage", async () => {
    await using endpoint = await start(api);
    const text = await (
      await post(endpoint, path, body(`Context. ${order("say", "the heron")}`, false))
    ).text();
    expect(text).toMatch(/^(event|data): /);
    expect(text).toContain("the heron");
    expect(text).toMatch(/"(output_tokens|completion_tokens|candidatesTokenCount)":30/);
  });

  it("calls a tool until it has a result", async () => {
    await using endpoint = await start(api);
    const before = await (await post(endpoint, path, body(order("tool"), false))).text();
    expect(before).toContain("shell");
    expect(before).toContain(PROBE_COMMAND);
    expect(await (await post(endpoint, path, body(order("tool"), true))).text()).toContain("Done.");
  });

  it("keeps the reply to a `work` order open until the client disconnects", async () => {
    await using endpoint = await start(api);
    const response = await post(endpoint, path, body(order("work"), false));
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.done).toBe(false);
    await reader?.cancel();
  });

  it("answers requests without tools immediately, and unknown paths with 404", async () => {
    await using endpoint = await start(api);
    const side = { ...body(order("work"), false), tools: [] };
    expect(await (await post(endpoint, path, side)).text()).toContain("Side job");
    expect((await fetch(`${endpoint.url}/telemetry`)).status).toBe(404);
  });
});
