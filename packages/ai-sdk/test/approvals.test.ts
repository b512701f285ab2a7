// Approvals that a person gives in a later call, on the real codex.
import { definePolicy } from "@codexkit/approvals";
import { callTool, patch, run, say, type Script } from "@codexkit/scripted-model";
import { startAppServer } from "@codexkit/testing";
import {
  convertToModelMessages,
  generateText,
  type ModelMessage,
  readUIMessageStream,
  streamText,
  type ToolApprovalResponse,
  toUIMessageStream,
  type UIMessage,
} from "ai";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { codexStage, ofType, partsOf, userPrompt, textOf, threadIdOf } from "./codex-stage.ts";
import { type CodexModelProvider, type CodexSettings, createCodex } from "../src/index.ts";

const mcpServer = fileURLToPath(new URL("../../sdk/test/mcp-server.ts", import.meta.url));

/** Runs a command outside the sandbox and reports whether it ran. */
const runs: Script = ({ newOutputs }) =>
  newOutputs.length === 0
    ? [say("I need this. "), run("echo by-hand", { escalate: "to show an approval" })]
    : say(newOutputs.some(({ text }) => text.includes("by-hand\n")) ? "It ran." : "It did not run.");

interface Asked {
  readonly messages: ModelMessage[];
  readonly approvalIds: string[];
  readonly threadId: string;
}

async function ask(codex: CodexModelProvider, messages: ModelMessage[]): Promise<Asked> {
  const result = await generateText({ model: codex(), messages });
  const { content, responseMessages, providerMetadata } = result;
  expect(result.finishReason).toBe("tool-calls");
  const approvalIds = content.flatMap((part) =>
    part.type === "tool-approval-request" ? [part.approvalId] : [],
  );
  const threadId = threadIdOf(providerMetadata);
  return { messages: [...messages, ...responseMessages], approvalIds, threadId };
}

function answer(
  { messages, approvalIds }: Omit<Asked, "threadId">,
  approved: boolean,
  reason?: string,
): ModelMessage[] {
  const content = approvalIds.map((approvalId): ToolApprovalResponse => ({
    type: "tool-approval-response",
    approvalId,
    approved,
    providerExecuted: true,
    ...(reason !== undefined && { reason }),
  }));
  return [...messages, { role: "tool", content }];
}

const start: ModelMessage[] = [{ role: "user", content: "go" }];

describe("a command that needs an approval", () => {
  it("is requested after its tool call, and the turn waits", async () => {
    await using stage = await codexStage(runs);
    const parts = await partsOf(stage.codex(), { prompt: userPrompt("go") });
    const [call] = ofType(parts, "tool-call");
    expect(call).toMatchObject({ toolName: "codex_exec", providerExecuted: true, dynamic: true });
    expect(parts.slice(-3)).toMatchObject([
      { type: "tool-call" },
      {
        type: "tool-approval-request",
        toolCallId: call?.toolCallId,
        providerMetadata: { codex: { approval: "command", reason: "to show an approval" } },
      },
      { type: "finish", finishReason: { unified: "tool-calls", raw: "approval_requested" } },
    ]);
    expect(stage.model.requests).toHaveLength(1);
    const { status } = await stage.codex.threads.read(call?.providerMetadata ?? {});
    expect(status).toMatchObject({ type: "active", activeFlags: ["waitingOnApproval"] });
  });

  it("runs when a later call approves it, in the same turn", async () => {
    await using stage = await codexStage(runs);
    const asked = await ask(stage.codex, start);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, true) });
    expect(result.text).toBe("It ran.");
    expect(result.toolResults).toMatchObject([{ toolName: "codex_exec", output: { exitCode: 0 } }]);
    expect(result.finishReason).toBe("stop");
  });

  it("does not run when a later call declines it, and the turn continues", async () => {
    await using stage = await codexStage(runs);
    const asked = await ask(stage.codex, start);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, false, "too risky") });
    expect(result.text).toBe("It did not run.");
    expect(stage.model.requests.at(-1)?.lastUserText).toBe("I declined that: too risky");
    expect(result.content).toMatchObject([{ type: "tool-call" }, { type: "tool-error" }, { type: "text" }]);
  });

  it("is requested once if several are pending, and can be answered one at a time", async () => {
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0
        ? [run("echo one", { escalate: "1" }), run("echo two", { escalate: "2" })]
        : say(`${newOutputs.length} ran`),
    );
    const asked = await ask(stage.codex, start);
    const all = new Set(asked.approvalIds);
    const reported: string[] = [];
    let { messages, approvalIds } = asked;
    for (let left = 3; left > 0 && approvalIds.length > 0; left -= 1) {
      const [first = ""] = approvalIds;
      const { content, responseMessages, text } = await generateText({
        model: stage.codex(),
        messages: answer({ messages, approvalIds: [first] }, true),
      });
      messages = [...answer({ messages, approvalIds: [first] }, true), ...responseMessages];
      approvalIds = content.flatMap((part) =>
        part.type === "tool-approval-request" ? [part.approvalId] : [],
      );
      for (const id of approvalIds) all.add(id);
      reported.push(text);
    }
    expect(reported.at(-1)).toBe("2 ran");
    expect(approvalIds).toEqual([]);
    expect(all.size).toBe(2);
  });

  it("is rejected when no answer arrives in time", async () => {
    await using stage = await codexStage(runs, { suspendTimeoutMs: 50 });
    const asked = await ask(stage.codex, start);
    const { threadId } = asked;
    // This call waits until the running turn has ended.
    await generateText({ model: stage.codex(), prompt: "next", providerOptions: { codex: { threadId } } });
    const late = answer(asked, true);
    await expect(generateText({ model: stage.codex(), messages: late })).rejects.toMatchObject({
      code: "approval_lost",
    });
    const { text } = await generateText({
      model: stage.codex(),
      messages: [...late, { role: "user", content: "something new" }],
    });
    expect(text).toBe("It did not run.");
  });

  it("can't be approved from a process that did not request it", async () => {
    await using stage = await codexStage(runs);
    const asked = await ask(stage.codex, start);
    await stage.codex.close();
    await using process2 = createCodex({ codex: stage.stage.codex, cwd: stage.workspace });
    const call = generateText({ model: process2(), messages: answer(asked, true) });
    await expect(call).rejects.toMatchObject({ code: "approval_lost" });
    await expect(call).rejects.toThrow("persist: true");
  });

  it("is abandoned for a new message", async () => {
    await using stage = await codexStage(({ lastUserText, newOutputs }) =>
      lastUserText === "go" && newOutputs.length === 0
        ? [say("Wait."), run("echo by-hand", { escalate: "why" })]
        : say(`${lastUserText}.`),
    );
    const first = await partsOf(stage.codex(), { prompt: userPrompt("go") });
    const codex = ofType(first, "text-start")[0]?.providerMetadata?.["codex"] ?? {};
    const second = await partsOf(stage.codex(), {
      prompt: [
        ...userPrompt("go"),
        { role: "assistant", content: [{ type: "text", text: "Wait.", providerOptions: { codex } }] },
        ...userPrompt("leave it"),
      ],
    });
    expect(textOf(second)).toBe("leave it.");
  });
});

describe("a file change that needs an approval", () => {
  it("is requested with its diff, and applied when a later call approves it", async () => {
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0
        ? patch("*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch")
        : say("Made."),
    );
    const asked = await ask(stage.codex, start);
    const call = asked.messages.flatMap((message) =>
      message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
    );
    expect(call).toMatchObject([
      { type: "tool-call", toolName: "codex_patch", input: { changes: [{ kind: "add", diff: "hello\n" }] } },
      { type: "tool-approval-request" },
    ]);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, true) });
    expect(result.text).toBe("Made.");
    expect(await readFile(join(stage.workspace, "made.txt"), "utf8")).toBe("hello\n");
  });
});

describe("other requests that need an approval", () => {
  it("include tools of MCP servers, which then run", async () => {
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0
          ? callTool("pay", { amount: 5 }, { namespace: "mcp__till" })
          : say(newOutputs[0]?.text ?? ""),
      { mcpServers: { till: { command: process.execPath, args: [mcpServer], required: true } } },
    );
    const asked = await ask(stage.codex, start);
    expect(asked.approvalIds).toHaveLength(1);
    const parts = asked.messages.flatMap((message) =>
      message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
    );
    // Only one call, because the approval refers to the item in the stream.
    expect(parts).toMatchObject([
      { type: "tool-call", toolName: "mcp__till__pay", input: { amount: 5 } },
      { type: "tool-approval-request" },
    ]);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, true) });
    expect(result.toolResults).toMatchObject([
      { toolName: "mcp__till__pay", output: { status: "completed" } },
    ]);
    expect(result.finishReason).toBe("stop");
  });

  it("include permission requests, whose result is the decision", async () => {
    const permissions = { network: { enabled: true } };
    await using stage = await codexStage(
      ({ newOutputs }) =>
        newOutputs.length === 0
          ? callTool("request_permissions", { reason: "needed", permissions })
          : say(newOutputs[0]?.text ?? ""),
      { launchOptions: { configOverrides: ["features.request_permissions_tool=true"] } },
    );
    const asked = await ask(stage.codex, start);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, true) });
    expect(JSON.parse(result.text)).toMatchObject({ permissions: { network: { enabled: true } } });
    expect(result.toolResults).toMatchObject([
      { toolName: "codex_permissions", input: { reason: "needed" }, output: { approved: true } },
    ]);
  });
});

describe("a policy", () => {
  it("answers the requests that it decides and leaves the others to a person", async () => {
    const script: Script = ({ lastUserText, newOutputs }) =>
      newOutputs.length === 0 ? run(lastUserText, { escalate: "why" }) : say(newOutputs[0]?.text ?? "");
    const policy = definePolicy({ allow: ["echo allowed"], deny: ["echo denied"], default: "ask" });
    await using stage = await codexStage(script, { policy });
    const allowed = await generateText({ model: stage.codex(), prompt: "echo allowed" });
    expect(allowed.finishReason).toBe("stop");
    expect(allowed.toolResults).toMatchObject([{ output: { exitCode: 0 } }]);
    const denied = await generateText({ model: stage.codex(), prompt: "echo denied" });
    expect(denied.finishReason).toBe("stop");
    expect(denied.content).toContainEqual(expect.objectContaining({ type: "tool-error" }));
    const asked = await ask(stage.codex, [{ role: "user", content: "echo something-else" }]);
    const result = await generateText({ model: stage.codex(), messages: answer(asked, true) });
    expect(result.text).toContain("something-else");
  });

  it.each<[string, CodexSettings, string]>([
    ["policy", { policy: definePolicy({ deny: ["echo"] }) }, "echo"],
    ["handler", { handlers: { approve: () => ({ decision: "decline", reason: "use make" }) } }, "use make"],
    [
      "handler for commands",
      { handlers: { commandApproval: () => ({ decision: "decline", reason: "use make" }) } },
      "use make",
    ],
  ])("sends the model the reason of a %s that declines", async (_, settings, reason) => {
    await using stage = await codexStage(runs, settings);
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toContain("It did not run.");
    expect(stage.model.requests.at(-1)?.lastUserText).toMatch(/^I declined that: /);
    expect(stage.model.requests.at(-1)?.lastUserText).toContain(reason);
  });

  it("sends the model a person's reason once", async () => {
    await using stage = await codexStage(runs, { policy: definePolicy({ ask: ["echo"] }) });
    const asked = await ask(stage.codex, start);
    await generateText({ model: stage.codex(), messages: answer(asked, false, "too risky") });
    const seen = JSON.stringify(stage.model.requests.at(-1)?.input);
    expect(seen.split("I declined that: too risky")).toHaveLength(2);
  });

  it("is applied after the program's own handlers", async () => {
    await using stage = await codexStage(runs, {
      handlers: { commandApproval: ({ command = "" }) => (command.includes("by-hand") ? "accept" : "pass") },
      policy: definePolicy({ deny: ["echo"] }),
    });
    const { text } = await generateText({ model: stage.codex(), prompt: "go" });
    expect(text).toContain("It ran.");
  });
});

describe("an approval in a chat", () => {
  it("works through UI messages", async () => {
    await using stage = await codexStage(runs);
    const user: UIMessage = { id: "u", role: "user", parts: [{ type: "text", text: "go" }] };
    const first = await chat(stage.codex, [user]);
    const part = first.parts.find(({ type }) => type === "dynamic-tool");
    expect(part).toMatchObject({ toolName: "codex_exec", state: "approval-requested" });
    if (part?.type !== "dynamic-tool" || part.state !== "approval-requested") throw new Error("not asked");
    const approval = { ...part.approval, approved: true };
    const answered: UIMessage = {
      ...first,
      parts: first.parts.map((one) =>
        one === part ? { ...part, state: "approval-responded", approval } : one,
      ),
    };
    const second = await chat(stage.codex, [user, answered]);
    expect(second.parts.filter(({ type }) => type === "dynamic-tool")).toMatchObject([
      { toolCallId: part.toolCallId, state: "output-available", output: { exitCode: 0 } },
    ]);
    expect(second.parts.at(-1)).toMatchObject({ type: "text", text: "It ran." });
  });
});

/** One request of a chat's front end. */
async function chat(codex: CodexModelProvider, messages: UIMessage[]): Promise<UIMessage> {
  const result = streamText({ model: codex(), messages: await convertToModelMessages(messages) });
  const stream = toUIMessageStream({ stream: result.fullStream, originalMessages: messages });
  const last = messages.at(-1);
  let shown: UIMessage | undefined;
  for await (const message of readUIMessageStream({
    stream,
    ...(last?.role === "assistant" && { message: structuredClone(last) }),
  })) {
    shown = message;
  }
  if (shown === undefined) throw new Error("nothing was shown");
  return shown;
}

describe("two processes on one server", () => {
  it("can share an approval: one requests it, the other answers it", async () => {
    await using server = await startAppServer({ model: runs, listen: "unix", modelRetries: 0 });
    const settings = { connect: { url: server.url ?? "" }, cwd: server.workspace, persist: true };
    const process1 = createCodex(settings);
    const asked = await ask(process1, start);
    await process1.close();
    await using process2 = createCodex(settings);
    const result = await generateText({ model: process2(), messages: answer(asked, true) });
    expect(result.text).toBe("It ran.");
    expect(result.warnings).toEqual([]);
    expect(result.toolResults).toMatchObject([{ toolName: "codex_exec", output: { exitCode: 0 } }]);
  });
});
