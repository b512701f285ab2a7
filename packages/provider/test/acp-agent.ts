// A tiny ACP agent for tests. The first word of a prompt selects its behaviour, and a command line argument its fault. Sessions
// are stored in the folder ACP_TEST_HOME, so that another process can load them.
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  agent,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionConfigOption,
} from "@agentclientprotocol/sdk";
import { z } from "zod";
import { runPrompt, type Session } from "./acp-agent-prompts.ts";

const steering = z.object({ sessionId: z.string(), prompt: z.array(z.object({ text: z.string() })) });

const fault = process.argv[2];
const home = process.env["ACP_TEST_HOME"];
const sessions = new Map<string, Session>();
/** How often each session was refused. */
const refusals = new Map<string, number>();
const late = Promise.withResolvers<void>();
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
    // Two pages, so that a client has to request the second one.
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
    // The first session is opened only when the next one is requested.
    if (fault === "--late-session" && sessions.size === 0) {
      const first = { sessionId: "late", ...open("late", params.mcpServers, params._meta) };
      return late.promise.then(() => first);
    }
    late.resolve();
    const sessionId = crypto.randomUUID();
    return { sessionId, ...open(sessionId, params.mcpServers, params._meta) };
  })
  .onRequest(methods.agent.session.load, async ({ params: { sessionId, mcpServers, _meta }, client }) => {
    if (fault === "--stores-late" && sessions.has(sessionId)) return open(sessionId, mcpServers, _meta);
    // As in Qwen Code, an open session can't be loaded.
    if (fault === "--one-writer" && sessions.has(sessionId))
      throw RequestError.internalError({ details: "there is a live writer" });
    const past = recall(sessionId);
    if (fault === "--breaks-on-load" && past !== "")
      throw RequestError.internalError({ details: "disk is full" });
    if (past === "" || fault === "--lists") {
      // As in agents that don't use the error code for it, the reason is in the details.
      if (fault === "--lists") throw RequestError.internalError({ details: "no such file" });
      if (fault === "--breaks-on-load")
        throw RequestError.internalError({ details: `no file for ${sessionId}` });
      // The code alone identifies the error.
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
      // As in Gemini CLI, the history comes after the response.
      setTimeout(() => {
        const content = { type: "text" as const, text: `replayed ${past}` };
        void client.notify(methods.client.session.update, {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content },
        });
      }, 5);
      return open(sessionId, mcpServers, _meta);
    }
    // As the protocol requires, the whole history is replayed before the response.
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
    if (params.sessionId === "late") process.stderr.write("closed the late session\n");
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId);
    if (!session) throw RequestError.sessionNotFound(params.sessionId);
    const text = params.prompt.map((part) => (part.type === "text" ? part.text : "")).join("");
    const file = memoryOf(session.id);
    // As in claude-agent-acp, a session is stored with its first output.
    const isStored = fault !== "--stores-late" || text !== "silent";
    if (file !== undefined && isStored) appendFileSync(file, `${text}\n`);
    const end = await runPrompt(client, session, text, recall);
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
