// Dynamic tools called by the real codex.
import type { v2 } from "@codexkit/protocol";
import { callTool, code, item, say, type Script, type ScriptRequest } from "@codexkit/scripted-model";
import { type AppServer, startAppServer } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { BrokerClient } from "../../test/broker-client.ts";
import { defineTool, toolNamespace } from "./define-tool.ts";
import { toDynamicTools } from "./dynamic-tools.ts";
import { ToolHost } from "./tool-host.ts";
import type { AnyTool } from "./tool.ts";

const png =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const add = defineTool({
  name: "add-up",
  description: "Adds two numbers",
  input: z.object({ a: z.number(), b: z.number().max(100) }),
  execute: ({ a, b }) => ({ sum: a + b }),
});
const lab = toolNamespace({
  name: "lab",
  description: "A laboratory",
  tools: [
    defineTool({ name: "mix", description: "Mixes", input: z.object({}), execute: () => "mixed" }),
    defineTool({
      name: "count_zebras",
      description: "Counts the zebras of the zoo",
      input: z.object({}),
      deferLoading: true,
      execute: () => "12 zebras",
    }),
  ],
});
const draw = defineTool({
  name: "draw",
  description: "Draws",
  input: z.object({}),
  execute: () => ({ image: png }),
});
const broken = defineTool({
  name: "broken",
  description: "Fails",
  input: z.object({}),
  execute: () => {
    throw new Error("out of paper");
  },
});
const slow = defineTool({
  name: "slow",
  description: "Never ends",
  input: z.object({}),
  timeoutMs: 50,
  execute: () => new Promise(() => {}),
});

const start = (model: Script, modelName: string): Promise<AppServer> =>
  startAppServer({ model, modelName, modelRetries: 0 });

async function play(
  server: AppServer,
  tools: readonly AnyTool[],
): Promise<{
  status: string;
  calls: v2.ThreadItem[];
  reply: string;
  client: BrokerClient;
  threadId: string;
}> {
  const host = new ToolHost(tools);
  const client = await BrokerClient.connect(server, host.handlers);
  const threadId = await client.startThread(server, { dynamicTools: [...host.specs] });
  const { status } = await client.runTurn(threadId);
  return {
    status,
    calls: client.items.filter(({ type }) => type === "dynamicToolCall"),
    reply: client.items.findLast((one) => one.type === "agentMessage")?.text ?? "",
    client,
    threadId,
  };
}

/** Calls the tool once, then replies with its output. */
function calling(name: string, args: object = {}, namespace?: string): Script {
  const options = { callId: "call", ...(namespace !== undefined && { namespace }) };
  return (request) =>
    request.newOutputs.length === 0
      ? callTool(name, args as Record<string, never>, options)
      : say(request.output("call")?.text ?? "");
}

describe.each(["gpt-5.5", "gpt-6.1-sol"])("a tool on %s", (modelName) => {
  it.each<[what: string, script: Script, reply: string, success: boolean]>([
    ["gets its arguments and returns a result", calling("add-up", { a: 2, b: 3 }), '"sum": 5', true],
    ["is called in its namespace", calling("mix", {}, "lab"), "mixed", true],
    ["is called although its loading is deferred", calling("count_zebras", {}, "lab"), "12 zebras", true],
    ["reports invalid arguments to the model", calling("add-up", { a: 2, b: 300 }), "<=100", false],
    ["reports its error to the model", calling("broken"), "out of paper", false],
    ["reports its timeout to the model", calling("slow"), "longer than 50 ms", false],
  ])("%s", async (_what, script, words, success) => {
    await using server = await start(script, modelName);
    const { status, calls, reply } = await play(server, [add, lab, broken, slow]);
    expect(status).toBe("completed");
    expect(reply).toContain(words);
    expect(calls).toMatchObject([{ status: success ? "completed" : "failed", success }]);
  });

  it("is rejected with the names of the known tools if unknown", async () => {
    await using server = await start(calling("add-up", { a: 1, b: 1 }), modelName);
    const client = await BrokerClient.connect(server, new ToolHost([lab]).handlers);
    const threadId = await client.startThread(server, { dynamicTools: toDynamicTools([add]) });
    expect((await client.runTurn(threadId)).status).toBe("completed");
    const reply = client.items.findLast((one) => one.type === "agentMessage")?.text;
    expect(reply).toContain("There is no tool add-up. Known tools: lab.mix, lab.count_zebras.");
  });

  it("is stopped when its turn is interrupted", async () => {
    const stopped = Promise.withResolvers<unknown>();
    const running = Promise.withResolvers<void>();
    const waits = defineTool({
      name: "waits",
      description: "Waits",
      input: z.object({}),
      execute: (_input, { signal }) => {
        signal.addEventListener("abort", () => stopped.resolve(signal.reason));
        running.resolve();
        return new Promise(() => {});
      },
    });
    await using server = await start(calling("waits"), modelName);
    const host = new ToolHost([waits]);
    const client = await BrokerClient.connect(server, host.handlers);
    const threadId = await client.startThread(server, { dynamicTools: [...host.specs] });
    const completed = client.until<{ turn: v2.Turn }>("turn/completed");
    const turnId = await client.startTurn(threadId);
    await running.promise;
    await client.peer.request("turn/interrupt", { threadId, turnId });
    expect((await completed).turn.status).toBe("interrupted");
    await expect(stopped.promise).resolves.toMatchObject({ code: "aborted" });
  });

  it("works again after its thread is resumed", async () => {
    await using server = await startAppServer({
      model: calling("add-up", { a: 2, b: 3 }),
      modelName,
      modelRetries: 0,
      listen: "unix",
    });
    const { client, threadId } = await play(server, [add]);
    await client.peer.close();
    const later = await BrokerClient.connect(server, new ToolHost([add]).handlers);
    await later.peer.request("thread/resume", { threadId });
    await later.runTurn(threadId);
    expect(later.items.findLast((one) => one.type === "agentMessage")?.text).toContain('"sum": 5');
  });
});

describe("a picture that a tool returns", () => {
  const images = (request: ScriptRequest | undefined): string =>
    JSON.stringify(request?.input.filter(({ type }) => type.endsWith("_output")));

  it("is shown to a model that calls tools", async () => {
    await using server = await start([callTool("draw"), say("done")], "gpt-5.5");
    await play(server, [draw]);
    expect(images(server.model.requests.at(-1))).toContain(`"type":"input_image","image_url":"${png}"`);
  });

  it("is a data URL to a model that writes code", async () => {
    await using server = await start([code("image(await tools.draw({}))"), say("done")], "gpt-6.1-sol");
    await play(server, [draw]);
    expect(images(server.model.requests.at(-1))).toContain(`"image_url":"${png}"`);
  });
});

describe("a tool with deferred loading", () => {
  it("is hidden from the model until it searches for it", async () => {
    const search = item({
      type: "tool_search_call",
      call_id: "search",
      execution: "client",
      arguments: { query: "zebras" },
    });
    await using server = await start([search, say("done")], "gpt-5.5");
    await play(server, [lab]);
    const [before, after] = server.model.requests;
    expect(before?.toolNames).toContain("lab__mix");
    expect(before?.toolNames).not.toContain("lab__count_zebras");
    expect(JSON.stringify(after?.input)).toContain("Counts the zebras of the zoo");
  });
});

describe("the rules for names", () => {
  const schema = { type: "object", properties: {} };
  const named = (name: string, namespace?: string): AnyTool =>
    defineTool({
      name,
      description: "",
      input: schema,
      execute: () => {},
      ...(namespace !== undefined && { namespace }),
    });

  it("are those of Codex", async () => {
    await using server = await start([], "gpt-5.5");
    const client = await BrokerClient.connect(server);
    const function_ = (name: string): { type: "function" } & v2.DynamicToolFunctionSpec => ({
      type: "function",
      name,
      description: "",
      inputSchema: schema,
    });
    const byCodex = (spec: v2.DynamicToolSpec): Promise<boolean> =>
      client.startThread(server, { ephemeral: true, dynamicTools: [spec] }).then(
        () => true,
        () => false,
      );
    const byCodexkit = (name: string, namespace?: string): boolean => {
      try {
        return toDynamicTools([named(name, namespace)]).length === 1;
      } catch {
        return false;
      }
    };
    const names = [
      "a",
      "-",
      "9",
      "A_b-9",
      "",
      "a b",
      "é",
      "mcp",
      "mcp_",
      "mcp__x",
      "n".repeat(128),
      "n".repeat(129),
    ];
    for (const name of names)
      expect([name, byCodexkit(name)]).toEqual([name, await byCodex(function_(name))]);
    const reserved = [
      "api_tool",
      "browser",
      "computer",
      "container",
      "file_search",
      "functions",
      "image_gen",
    ];
    reserved.push("multi_tool_use", "python", "python_user_visible", "submodel_delegator", "terminal");
    reserved.push("tool_search", "web", "lab", "shell", "mcp", "mcp__x", "n".repeat(64), "n".repeat(65));
    for (const namespace of reserved) {
      const taken = await byCodex({
        type: "namespace",
        name: namespace,
        description: "",
        tools: [function_("x")],
      });
      expect([namespace, byCodexkit("x", namespace)]).toEqual([namespace, taken]);
    }
  });

  it("cover every built-in tool", async () => {
    for (const modelName of ["gpt-5.5", "gpt-6.1-sol"]) {
      await using server = await start([say("done")], modelName);
      const client = await BrokerClient.connect(server);
      await client.runTurn(await client.startThread(server));
      const own = server.model.requests[0]?.tools ?? [];
      for (const { name, namespace, type } of own) {
        // Tools that the model's endpoint runs are not functions, and namespaces are checked above.
        if (namespace !== undefined || name.includes("__") || type === "web_search") continue;
        expect(() => named(name)).toThrow("a built-in tool");
      }
    }
  });
});
