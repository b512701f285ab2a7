// Questions of the real codex and of real MCP servers to the user, answered through the broker.
import { askUser, callTool, say, type Script } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { BrokerClient } from "./broker-client.ts";
import type { ElicitationAnswer, McpElicitationRequest } from "../src/requests/elicitation.ts";
import type { ServerRequestHandlers } from "../src/requests/handlers.ts";
import type { McpToolApproval } from "../src/requests/mcp-tool-approval.ts";
import type { UserInputRequest } from "../src/requests/user-input.ts";

const mcpServer = fileURLToPath(new URL("./mcp-server.ts", import.meta.url));
// For servers that are not required, Codex waits one second, which is short on a busy machine.
const till = `mcp_servers.till={command="${process.execPath}",args=["${mcpServer}"],required=true}`;

interface Seen {
  readonly statuses: string[];
  readonly replies: string[];
  readonly client: BrokerClient;
}

async function play(
  script: Script,
  handlers: ServerRequestHandlers,
  { turns = 1, modelName = "mock-model", settings = {}, config = [till] } = {},
): Promise<Seen> {
  await using server = await startAppServer({ model: script, modelName, modelRetries: 0, config });
  const client = await BrokerClient.connect(server, handlers);
  const threadId = await client.startThread(server);
  const statuses: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    statuses.push((await client.runTurn(threadId, settings)).status);
  }
  const replies = client.items.flatMap((item) => (item.type === "agentMessage" ? [item.text] : []));
  return { statuses, replies, client };
}

/** Calls a tool of the MCP server in every turn and replies with its output. */
function calling(tool: string): Script {
  return (request) =>
    request.newOutputs.length === 0
      ? callTool(tool, tool === "pay" ? { amount: 3 } : {}, { namespace: "mcp__till", callId: "call" })
      : say(request.output("call")?.text ?? "");
}

describe("a question of the model", () => {
  const options = ["blue", "red"].map((label) => ({ label, description: label }));
  const script: Script = (request) =>
    request.newOutputs.length === 0
      ? askUser([{ id: "colour", header: "Colour", question: "Which?", options }], { callId: "ask" })
      : say(request.output("ask")?.text ?? "");
  const settings = (model: string): object => ({
    collaborationMode: {
      mode: "plan",
      settings: { model, reasoning_effort: null, developer_instructions: null },
    },
  });

  it.each(["gpt-5.5", "gpt-6.1-sol"])("is answered by the user, on %s", async (modelName) => {
    const asked: UserInputRequest[] = [];
    const userInput = (request: UserInputRequest): Record<string, string> => {
      asked.push(request);
      return { colour: "blue" };
    };
    const { replies, client } = await play(
      script,
      { userInput },
      { modelName, settings: settings(modelName) },
    );
    expect(replies.at(-1)).toContain("blue");
    expect(asked).toMatchObject([{ questions: [{ id: "colour", options: [{ label: "blue" }, {}] }] }]);
    expect(client.events.map(({ type }) => type)).toEqual(["question.requested", "question.resolved"]);
  });

  it("gets no answers without a handler, and the turn continues", async () => {
    const { statuses, client } = await play(
      script,
      {},
      { modelName: "gpt-5.5", settings: settings("gpt-5.5") },
    );
    expect(statuses).toEqual(["completed"]);
    expect(client.events.map(({ type }) => type)).toEqual([
      "question.requested",
      "warning",
      "question.resolved",
    ]);
  });
});

describe("a question of an MCP server", () => {
  const answers: [tool: string, answer: ElicitationAnswer, reaches: string][] = [
    ["ask", { action: "accept", content: { name: "Bo" } }, '{"action":"accept","content":{"name":"Bo"}}'],
    ["ask", "decline", '{"action":"decline"}'],
    ["ask", "cancel", '{"action":"cancel"}'],
    ["visit", { action: "accept" }, '{"action":"accept"'],
  ];

  it.each(answers)("from %s gets %j", async (tool, answer, reaches) => {
    const asked: McpElicitationRequest[] = [];
    const { replies, client } = await play(calling(tool), {
      elicitation: (request) => (asked.push(request), answer),
      mcpToolApproval: () => "cancel",
    });
    expect(replies.at(-1)).toContain(reaches);
    const expected =
      tool === "ask"
        ? { mode: "form", message: "What is your name?" }
        : { mode: "url", url: "https://example.com/sign-in" };
    expect(asked).toMatchObject([{ server: "till", mode: expected.mode, params: expected }]);
    expect(client.events.map(({ type }) => type)).toEqual(["question.requested", "question.resolved"]);
  });

  it("is declined without an answer", async () => {
    const { replies } = await play(calling("ask"), {});
    expect(replies.at(-1)).toContain('{"action":"decline"}');
  });
});

describe("a call of an MCP server's tool", () => {
  const pays = calling("pay");

  it("has its own handler, which gets the tool's name and arguments", async () => {
    const approvals: McpToolApproval[] = [];
    const { replies, client } = await play(
      pays,
      { mcpToolApproval: (approval) => (approvals.push(approval), "accept"), elicitation: () => "cancel" },
      { turns: 2 },
    );
    expect(replies.map((text) => text.includes('{"paid":3}'))).toEqual([true, true]);
    expect(approvals).toHaveLength(2);
    expect(approvals[0]).toMatchObject({
      server: "till",
      tool: "pay",
      title: "Pay somebody",
      description: "Sends money",
      arguments: { amount: 3 },
      persist: ["session", "always"],
    });
    expect(client.events[0]).toMatchObject({ type: "approval.requested", kind: "mcpTool" });
  });

  it.each(["acceptForSession", "acceptAlways"] as const)(
    "is not asked about again after %s",
    async (decision) => {
      const { replies, client } = await play(pays, { approve: () => decision }, { turns: 2 });
      expect(replies.map((text) => text.includes('{"paid":3}'))).toEqual([true, true]);
      expect(client.events.filter(({ type }) => type === "approval.requested")).toHaveLength(1);
    },
  );

  it.each([
    ["decline", "user rejected MCP tool call"],
    ["cancel", "user cancelled MCP tool call"],
  ] as const)("is not made after %s, and the turn continues", async (decision, words) => {
    const { replies, statuses } = await play(pays, { approve: () => decision });
    expect(statuses).toEqual(["completed"]);
    expect(replies.at(-1)).toContain(words);
  });

  it("is not made without an answer", async () => {
    const { replies } = await play(pays, {});
    expect(replies.at(-1)).toContain("user rejected MCP tool call");
  });

  it("is an approval even if the server asks about every call and offers no session decision", async () => {
    const approvals: McpToolApproval[] = [];
    const config = [till, `mcp_servers.till.default_tools_approval_mode="prompt"`];
    const approve = {
      mcpToolApproval: (approval: McpToolApproval) => {
        approvals.push(approval);
        return "accept" as const;
      },
    };
    const { replies } = await play(pays, approve, { config });
    expect(replies.at(-1)).toContain('{"paid":3}');
    expect(approvals).toMatchObject([{ tool: "pay", persist: [] }]);
  });
});
