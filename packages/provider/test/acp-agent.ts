// A tiny ACP agent for tests. The first word of a prompt says what it does, an argument how its process misbehaves. Its
// sessions are kept in the folder that ACP_TEST_HOME names, so that another process can load them.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import {
  agent,
  type AgentContext,
  type McpServer,
  methods,
  ndJsonStream,
  type PromptResponse,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { z } from "zod";

interface Session {
  readonly id: string;
  readonly servers: readonly McpServer[];
  readonly settings: Record<string, unknown>;
  cancel: () => void;
  /** Takes a message while a turn runs that listens for one. */
  steer?: ((text: string) => void) | undefined;
}

const steering = z.object({ sessionId: z.string(), prompt: z.array(z.object({ text: z.string() })) });

const fault = process.argv[2];
const home = process.env["ACP_TEST_HOME"];
const sessions = new Map<string, Session>();
/** How often each session was refused. */
const refusals = new Map<string, number>();
let isLoggedIn = fault !== "--needs-login";

if (fault === "--exits") {
  process.stderr.write("there is no licence for this agent\n");
  process.exit(3);
}
if (fault === "--stubborn") {
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 60_000);
}

function memoryOf(id: string): string | undefined {
  return home === undefined ? undefined : join(home, id);
}

function recall(id: string): string {
  const file = memoryOf(id);
  return file !== undefined && existsSync(file) ? readFileSync(file, "utf8") : "";
}

function select(id: string, category: string, values: readonly string[]): SessionConfigOption {
  const options = values.map((value) => ({ value, name: value.toUpperCase() }));
  return { type: "select", id, name: id, category, currentValue: values[0] ?? "", options };
}

function offer(): object {
  if (fault === "--plain") return {};
  return {
    modes: { currentModeId: "code", availableModes: ["code", "plan"].map((id) => ({ id, name: id })) },
    configOptions: [
      select("llm", "model", ["small", "large"]),
      select("thinking", "thought_level", ["low", "high"]),
      { type: "boolean", id: "fast", name: "fast", currentValue: false },
    ],
  };
}

function open(id: string, servers: readonly McpServer[], meta: unknown): object {
  sessions.set(id, { id, servers, settings: { ...(meta as object) }, cancel: () => {} });
  return offer();
}

/** Calls the echo of a stdio server as an MCP client does. */
async function callServer(server: McpServer | undefined, text: string): Promise<string> {
  if (!server || !("command" in server)) return "no server";
  const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]));
  const child = spawn(server.command, server.args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const send = (message: object): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, method: "initialize", params: {} });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "tools/call", params: { name: "echo", arguments: { text } } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as { id: number; result: { content?: { text: string }[] } };
      if (id === 2) return result.content?.[0]?.text ?? "";
    }
    return "the server left";
  } finally {
    child.stdin.end();
  }
}

async function work(
  client: AgentContext,
  session: Session,
  text: string,
): Promise<StopReason | PromptResponse> {
  const { id: sessionId } = session;
  const report = (update: SessionUpdate): Promise<void> =>
    client.notify(methods.client.session.update, { sessionId, update });
  const say = async (words: string): Promise<void> => {
    for (const piece of words.match(/.{1,8}/gs) ?? [])
      await report({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: piece } });
  };
  const cancelled = new Promise<void>((resolve) => (session.cancel = resolve));
  const [order = "", ...rest] = text.split(" ");
  const words = rest.join(" ");
  switch (order) {
    case "say":
    case "remember":
      await say(words);
      break;
    case "recall":
      await say(recall(sessionId));
      break;
    case "settings":
      await say(JSON.stringify(session.settings));
      break;
    case "work":
      await say("Working.");
      await cancelled;
      return "cancelled";
    case "silent":
      await cancelled;
      return "cancelled";
    case "unresponsive":
      return new Promise(() => {});
    case "die":
      await say("I am not well.");
      process.stderr.write("out of memory\n");
      process.exit(9);
      break;
    case "garbage":
      writeSync(1, "this is no JSON\n[1, 2]\n42\n");
      await say("Sorry about that.");
      break;
    case "strange":
      await client.notify("session/update", {
        sessionId,
        update: { sessionUpdate: "from_the_future", a: 1 },
      });
      await client.notify("session/update", { sessionId: "nobody", update: { sessionUpdate: "plan" } });
      await client.notify("session/update", { nonsense: true });
      await client.request("fs/read_text_file", { sessionId, path: "/etc/hostname" }).catch(async () => {
        await say("No files for me.");
      });
      break;
    case "tool":
      await report({
        sessionUpdate: "tool_call",
        toolCallId: "t",
        title: "`ls`",
        kind: "execute",
        status: "pending",
        rawInput: { command: "ls" },
      });
      for (const output of ["a\n", "a\nb\n"]) {
        const content = [{ type: "content" as const, content: { type: "text" as const, text: output } }];
        await report({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress", content });
      }
      await report({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
      await say("Two files.");
      break;
    case "late-input":
      // As claude-agent-acp does: the input is not written yet when the call is announced.
      await report({
        sessionUpdate: "tool_call",
        toolCallId: "l",
        title: "Terminal",
        kind: "execute",
        rawInput: {},
      });
      await report({
        sessionUpdate: "tool_call_update",
        toolCallId: "l",
        rawInput: { command: "date" },
        content: [{ type: "content", content: { type: "text", text: "Shows the date" } }],
      });
      await report({
        sessionUpdate: "tool_call_update",
        toolCallId: "l",
        status: "completed",
        rawOutput: "today",
      });
      break;
    case "pending":
      await report({ sessionUpdate: "tool_call", toolCallId: "p", title: "Slow", kind: "other" });
      await cancelled;
      return "cancelled";
    case "usage":
      return {
        stopReason: "end_turn",
        usage: { inputTokens: 100, outputTokens: 30, cachedReadTokens: 20, totalTokens: 150 },
      };
    case "spend":
      await report({
        sessionUpdate: "usage_update",
        used: 10,
        size: 100,
        cost: { amount: Number(words), currency: "USD" },
      });
      break;
    case "listen": {
      const { promise, resolve } = Promise.withResolvers<string>();
      await say("Listening.");
      session.steer = resolve;
      // The client's first attempt came too early: it tries again when something happens.
      await report({ sessionUpdate: "notice", severity: "info", title: "Now" });
      const heard = await Promise.race([promise, cancelled]);
      session.steer = undefined;
      await say(`I received ${heard}.`);
      break;
    }
    case "turn-fails":
      await say("The model is gone.");
      await report({
        sessionUpdate: "session_info_update",
        _meta: { codex: { threadStatus: { type: "systemError" } } },
      });
      break;
    case "leave-open":
      await report({ sessionUpdate: "tool_call", toolCallId: "o", title: "Forgotten", kind: "other" });
      break;
    case "everything":
      await report({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hmm." } });
      await report({
        sessionUpdate: "plan",
        entries: [{ content: "Look", priority: "high", status: "pending" }],
      });
      await report({
        sessionUpdate: "usage_update",
        used: 10,
        size: 100,
        cost: { amount: 0.25, currency: "USD" },
      });
      await report({ sessionUpdate: "notice", severity: "info", title: "Mind the gap" });
      await report({ sessionUpdate: "current_mode_update", currentModeId: "plan" });
      await say("Done.");
      break;
    case "ask": {
      const [kind, ...what] = rest;
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall:
          kind === "edit"
            ? { toolCallId: "e", title: "Edit", kind, locations: [{ path: what.join(" ") }] }
            : { toolCallId: "c", title: "Run", kind: "execute", rawInput: { command: what.join(" ") } },
        options: [
          { optionId: "always", name: "Always", kind: "allow_always" },
          { optionId: "yes", name: "Yes", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      });
      const answer = outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
      if (answer === "yes") {
        const toolCallId = kind === "edit" ? "e" : "c";
        await report({
          sessionUpdate: "tool_call_update",
          toolCallId,
          status: "completed",
          rawOutput: "done",
        });
      }
      await say(answer);
      break;
    }
    case "server": {
      const [server] = session.servers;
      const toolCallId = "m";
      await report({
        sessionUpdate: "tool_call",
        toolCallId,
        title: "Echo",
        name: `mcp__${server?.name}__echo`,
      });
      const rawOutput = await callServer(server, words);
      await report({ sessionUpdate: "tool_call_update", toolCallId, status: "completed", rawOutput });
      await say(rawOutput);
      break;
    }
    case "refuse":
      return "refusal";
    case "tokens":
      return "max_tokens";
    case "turns":
      return "max_turn_requests";
    case "fail":
      throw RequestError.internalError({ why: words }, words);
  }
  return "end_turn";
}

const app = agent({ name: "tiny" })
  .onRequest(methods.agent.initialize, () => {
    if (fault === "--silent") return new Promise(() => {});
    return {
      protocolVersion: fault === "--future" ? 99 : PROTOCOL_VERSION,
      agentInfo: { name: "tiny", title: "Tiny agent", version: "1.0.0" },
      agentCapabilities:
        fault === "--plain"
          ? {}
          : {
              loadSession: home !== undefined,
              sessionCapabilities: { close: {}, ...(fault === "--lists" && { list: {} }) },
              mcpCapabilities: {},
            },
      authMethods: [
        { id: "key", name: "API key", description: "Use a key" },
        { id: "token", name: "Token", type: "env_var", vars: [{ name: "TINY_TOKEN" }] },
      ],
      ...(fault !== "--plain" && { _meta: { steering: { supported: true } } }),
    };
  })
  .onRequest(methods.agent.authenticate, ({ params }) => {
    if (params.methodId !== "key") throw RequestError.authRequired({ details: "TINY_TOKEN is not set" });
    isLoggedIn = true;
    return {};
  })
  .onRequest(methods.agent.session.list, ({ params }) => {
    // Two pages, so that a client has to read on.
    const all = home === undefined ? [] : readdirSync(home).map((sessionId) => ({ sessionId, cwd: home }));
    return params.cursor === undefined || params.cursor === null
      ? { sessions: [], nextCursor: "rest" }
      : { sessions: all };
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    if (fault === "--no-sessions") return new Promise(() => {});
    if (!isLoggedIn) throw RequestError.authRequired({ details: "no key was given" });
    if (fault === "--dies-early") {
      process.stderr.write("no room for a session\n");
      process.exit(4);
    }
    const sessionId = crypto.randomUUID();
    return { sessionId, ...open(sessionId, params.mcpServers, params._meta) };
  })
  .onRequest(methods.agent.session.load, async ({ params: { sessionId, mcpServers, _meta }, client }) => {
    if (fault === "--stores-late" && sessions.has(sessionId)) return open(sessionId, mcpServers, _meta);
    // As Qwen Code does: an open session can't be loaded.
    if (fault === "--one-writer" && sessions.has(sessionId))
      throw RequestError.internalError({ details: "there is a live writer" });
    const past = recall(sessionId);
    if (fault === "--breaks-on-load" && past !== "")
      throw RequestError.internalError({ details: "disk is full" });
    if (past === "" || fault === "--lists") {
      // As agents do that don't have the code for it: the reason is in the details.
      if (fault === "--lists") throw RequestError.internalError({ details: "no such file" });
      if (fault === "--breaks-on-load")
        throw RequestError.internalError({ details: `no file for ${sessionId}` });
      // The code alone says what is missing.
      throw new RequestError(-32002, "Resource not found");
    }
    if (past.startsWith("spend"))
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: "usage_update", used: 1, size: 9, cost: { amount: 0.25, currency: "USD" } },
      });
    if (fault === "--busy-at-first" && (refusals.get(sessionId) ?? 0) < 2) {
      refusals.set(sessionId, (refusals.get(sessionId) ?? 0) + 1);
      throw RequestError.internalError({ details: "there is a live writer" });
    }
    if (fault === "--late-replay") {
      // As Gemini CLI does: the past comes after the answer.
      setTimeout(() => {
        const content = { type: "text" as const, text: `replayed ${past}` };
        void client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content },
        });
      }, 5);
      return open(sessionId, mcpServers, _meta);
    }
    // As the protocol wants it: the whole past is told again before the answer.
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `replayed ${past}` } },
    });
    return open(sessionId, mcpServers, _meta);
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    Object.assign(sessions.get(params.sessionId)?.settings ?? {}, { mode: params.modeId });
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    Object.assign(sessions.get(params.sessionId)?.settings ?? {}, { [params.configId]: params.value });
    return { configOptions: [] };
  })
  .onRequest(methods.agent.session.close, ({ params }) => {
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId);
    if (!session) throw RequestError.sessionNotFound(params.sessionId);
    const text = params.prompt.map((part) => (part.type === "text" ? part.text : "")).join("");
    const file = memoryOf(session.id);
    // As claude-agent-acp does: a session is stored with its first output.
    const isStored = fault !== "--stores-late" || text !== "silent";
    if (file !== undefined && isStored) appendFileSync(file, `${text}\n`);
    const end = await work(client, session, text);
    return typeof end === "string" ? { stopReason: end } : end;
  })
  .onRequest("_session/steering", steering, ({ params: { sessionId, prompt } }) => {
    const steer = sessions.get(sessionId)?.steer;
    if (!steer) return { outcome: "promptRequired", reason: "noRunningTurn" };
    const text = prompt.map((part) => part.text).join("");
    if (text === "nonsense") throw RequestError.invalidParams({ details: "that is nonsense" });
    steer(text);
    return { outcome: "injected" };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel());

const connection = app.connect(
  ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
);
await connection.closed;
if (fault !== "--stubborn") process.exit(0);
