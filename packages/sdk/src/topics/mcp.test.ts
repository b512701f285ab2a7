import {
  type AppServer,
  type FakeAction,
  notify,
  startAppServer,
  startFakeAppServer,
  tempFolder,
} from "@codexkit/testing";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peerCaller } from "../../test/peer-caller.ts";
import { type McpServers, toMcpServersConfig } from "./mcp-servers.ts";
import { Mcp } from "./mcp.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** A server with one tool and one resource. The tool returns the server's arguments and environment. */
const PROGRAM = `
import { createInterface } from "node:readline";
const launchInfo = JSON.stringify({ args: process.argv.slice(2), who: process.env.WHO });
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "till", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "describe", inputSchema: { type: "object", properties: {} } }] }),
  "tools/call": ({ arguments: given }) => ({ content: [{ type: "text", text: launchInfo }], structuredContent: { given } }),
  "resources/list": () => ({ resources: [{ uri: "memo://one", name: "one" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "the memo" }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
}`;

describe("servers of a thread", () => {
  const started = new AsyncDisposableStack();
  let server: AppServer;
  let caller: TopicCaller;
  let mcp: Mcp;
  let threadId: string;

  async function startThread(servers: McpServers): Promise<string> {
    const params = {
      cwd: server.workspace,
      ephemeral: true,
      config: { mcp_servers: toMcpServersConfig(servers) },
    };
    return (await caller.request("thread/start", params)).thread.id;
  }

  beforeAll(async () => {
    const folder = started.use(await tempFolder("mcp"));
    const program = join(folder.path, "server.mjs");
    await writeFile(program, PROGRAM);
    server = started.use(await startAppServer({ model: [] }));
    caller = peerCaller(await server.connect());
    mcp = new Mcp(caller);
    const up = Promise.withResolvers<void>();
    mcp.onStartup(({ name, status }) => {
      if (name === "till.one" && status === "ready") up.resolve();
    });
    threadId = await startThread({
      "till.one": {
        command: process.execPath,
        args: [program, "--flag"],
        env: { WHO: "me" },
        startupTimeoutMs: 20_000,
        toolTimeoutMs: 1500,
        enabledTools: ["describe"],
        toolsApproval: "approve",
        parallelToolCalls: true,
      },
      off: { url: "https://example.com/mcp", headers: { "x-a": "b" }, scopes: ["read"], enabled: false },
    });
    await up.promise;
  });
  afterAll(() => started.disposeAsync());

  it("are listed with their tools and resources, and never written to the user's config", async () => {
    const all = await Array.fromAsync(mcp.status({ threadId, pageSize: 1 }));
    expect(all.map(({ name }) => name)).toContain("till.one");
    const [one] = (await mcp.statusPage({ threadId, serverName: "till.one" })).data;
    expect(one).toMatchObject({
      runtimeStatus: "connected",
      tools: { describe: { name: "describe" } },
      resources: [{ uri: "memo://one" }],
    });
    expect(await Array.fromAsync(mcp.status())).toEqual([]);
    expect(await readFile(join(server.codexHome, "config.toml"), "utf8")).not.toContain("till");
  });

  it("run their tools and serve their resources", async () => {
    const call = { threadId, server: "till.one", tool: "describe", arguments: { a: 1 } };
    expect(await mcp.callTool(call)).toMatchObject({
      content: [{ text: JSON.stringify({ args: ["--flag"], who: "me" }) }],
      structuredContent: { given: { a: 1 } },
    });
    expect(await mcp.readResource({ threadId, server: "till.one", uri: "memo://one" })).toEqual([
      { uri: "memo://one", text: "the memo" },
    ]);
  });

  it("are rejected if unknown", async () => {
    const call = mcp.callTool({ threadId, server: "unknown", tool: "describe" });
    await expect(call).rejects.toMatchObject({ code: "request_failed" });
    await expect(mcp.login("unknown")).rejects.toMatchObject({ code: "request_failed" });
    await expect(mcp.login("till.one", { threadId })).rejects.toMatchObject({
      message: expect.stringMatching(/OAuth login is only/) as string,
    });
  });

  it("can be reloaded", async () => {
    await expect(mcp.reload()).resolves.toBeUndefined();
  });

  it("are accepted by codex with every option", async () => {
    const every = {
      enabled: false,
      required: false,
      startupTimeoutMs: 1000,
      toolTimeoutMs: 1000,
      enabledTools: ["a"],
      disabledTools: ["b"],
      toolsApproval: "writes",
      parallelToolCalls: false,
    } as const;
    const servers: McpServers = {
      child: { ...every, command: "true", args: [], env: {}, envVars: ["PATH"], cwd: "/" },
      "@far/one": {
        ...every,
        url: "http://127.0.0.1:1/mcp",
        headers: {},
        envHeaders: { a: "B" },
        bearerTokenEnvVar: "TOKEN",
        scopes: [],
      },
    };
    await expect(startThread(servers)).resolves.toBeDefined();
  });
});

describe("the config of a server", () => {
  it.each([
    ["a name with a space", { "a b": { command: "true" } }, /"a b".*its name must match/],
    ["an empty name", { "": { command: "true" } }, /its name must match/],
    ["no command", { a: { command: "" } }, /needs a command or a url/],
    ["both a command and a url", { a: { command: "true", url: "https://x" } }, /both a command and a url/],
    ["an invalid url", { a: { url: "nope" } }, /must be http or https, got "nope"/],
  ])("is rejected for %s", (_what, servers, message) => {
    expect(() => toMcpServersConfig(servers as unknown as McpServers)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });

  it("omits unset options", () => {
    expect(toMcpServersConfig({ a: { command: "true" }, b: { url: "https://x" } })).toEqual({
      a: { command: "true" },
      b: { url: "https://x" },
    });
  });
});

describe("a login to a server", () => {
  const notice = (loginId: string, success: boolean, error?: string): FakeAction =>
    notify("mcpServer/oauthLogin/completed", { name: "far", threadId: null, loginId, success, error });
  const answer = { do: "reply" as const, result: { authorizationUrl: "https://sign.in", loginId: "mine" } };

  it("completes by its own id", async () => {
    await using fake = startFakeAppServer({
      on: {
        "mcpServer/oauth/login": [
          notice("another", false, "no"),
          answer,
          { do: "waitForGo" },
          notice("mine", true),
        ],
      },
    });
    const login = await new Mcp(peerCaller(fake.peer)).login("far");
    expect(login.authorizationUrl).toBe("https://sign.in");
    await fake.go();
    await expect(login.completed).resolves.toBeUndefined();
  });

  it("fails with the server's reason or after its timeout", async () => {
    await using fake = startFakeAppServer({
      on: { "mcpServer/oauth/login": [notice("mine", false, "denied"), answer] },
    });
    const login = await new Mcp(peerCaller(fake.peer)).login("far");
    await expect(login.completed).rejects.toMatchObject({
      code: "request_failed",
      message: expect.stringMatching(/denied/) as string,
    });
    await using slow = startFakeAppServer({ on: { "mcpServer/oauth/login": [answer] } });
    const late = await new Mcp(peerCaller(slow.peer)).login("far", { completionTimeoutMs: 1 });
    await expect(late.completed).rejects.toMatchObject({ code: "timeout" });
  });
});
