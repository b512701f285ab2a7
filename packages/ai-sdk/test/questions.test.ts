import { askUser, callTool, say, type Script } from "@codexkit/scripted-model";
import { generateText } from "ai";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codexStage } from "./codex-stage.ts";

const mcpServer = fileURLToPath(new URL("../../sdk/test/mcp-server.ts", import.meta.url));

describe("a question of an MCP server", () => {
  const script: Script = ({ newOutputs }) =>
    newOutputs.length === 0
      ? callTool("ask", {}, { namespace: "mcp__till" })
      : say(newOutputs[0]?.text ?? "");
  const settings = { mcpServers: { till: { command: process.execPath, args: [mcpServer], required: true } } };

  it("is answered by a handler", async () => {
    await using stage = await codexStage(script, {
      ...settings,
      handlers: { elicitation: () => ({ action: "accept", content: { name: "Bo" } }) },
    });
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toContain('"name":"Bo"');
  });

  it("is declined without a handler, and the turn continues", async () => {
    await using stage = await codexStage(script, settings);
    const { text, finishReason } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toContain("decline");
    expect(finishReason).toBe("stop");
  });
});

describe("a question of the model", () => {
  const options = ["blue", "red"].map((label) => ({ label, description: label }));
  const script: Script = (request) =>
    request.newOutputs.length === 0
      ? askUser([{ id: "colour", header: "Colour", question: "Which?", options }], { callId: "ask" })
      : say(request.output("ask")?.text ?? "");
  const settings = {
    modelName: "gpt-5.5",
    launchOptions: { configOverrides: ["features.default_mode_request_user_input=true"] },
  };

  it("is answered by a handler", async () => {
    await using stage = await codexStage(script, {
      ...settings,
      handlers: { userInput: () => ({ colour: "blue" }) },
    });
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toContain("blue");
  });

  it("gets no answer without a handler, and the turn continues", async () => {
    await using stage = await codexStage(script, settings);
    const { text, finishReason } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).not.toContain("blue");
    expect(finishReason).toBe("stop");
  });
});
