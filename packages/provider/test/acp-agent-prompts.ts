// The behaviours of the tiny ACP agent, by the first word of the prompt.
import { spawn } from "node:child_process";
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import {
  type AgentContext,
  type McpServer,
  methods,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";

export interface Session {
  readonly id: string;
  readonly servers: readonly McpServer[];
  readonly settings: Record<string, unknown>;
  cancel: () => void;
  /** Passes a message to the running turn. Undefined unless a turn is listening for one. */
  steer?: ((text: string) => void) | undefined;
}

/** Calls the echo tool of a stdio server as an MCP client does. */
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

/** Runs the behaviour that the first word of the prompt selects. */
export async function runPrompt(
  client: AgentContext,
  session: Session,
  text: string,
  recall: (sessionId: string) => string,
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
      await client.notify("session/update", {
        sessionId: "unknown-session",
        update: { sessionUpdate: "plan" },
      });
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
      // As in claude-agent-acp, the call is announced before its input is complete.
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
      // The client's first attempt came too early. It retries on the next update.
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
