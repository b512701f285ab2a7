import { describe, expect, it } from "vitest";
import {
  type SessionUpdate,
  sessionNotification,
  type ToolCallPart,
  type ToolContent,
} from "./session-notification.ts";
import { UpdateMapper } from "./update-mapper.ts";

/** Parses an update as an agent sends it. */
function parse(update: object): SessionUpdate {
  return sessionNotification.parse({ sessionId: "s", update }).update;
}

interface Dialect {
  readonly agent: string;
  /** The updates of one tool call, as the agent sends them. `permission` is the call in a permission request. */
  readonly updates: readonly object[];
  readonly permission?: { readonly after: number; readonly toolCall: ToolCallPart };
  readonly expected: {
    readonly toolName: string;
    readonly toolCategory: string;
    readonly input: unknown;
    readonly content: string;
  };
}

const text = (content: string): ToolContent[] => [
  { type: "content", content: { type: "text", text: content } },
];
const call = (toolCallId: string, more: object): object => ({
  sessionUpdate: "tool_call",
  toolCallId,
  ...more,
});
const next = (toolCallId: string, more: object): object => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  ...more,
});
const command = "echo hello";

/** One command and one MCP tool call per agent, reduced to what differs between agents. */
const DIALECTS: readonly Dialect[] = [
  {
    agent: "codex-acp, a command: the output is in a terminal's _meta, and the name comes too late",
    updates: [
      call("1", {
        kind: "execute",
        title: command,
        status: "in_progress",
        content: [{ type: "terminal", terminalId: "1" }],
        rawInput: { command, cwd: "/w" },
      }),
      next("1", {
        name: "exec_command",
        _meta: { terminal_output_delta: { data: "hel", terminal_id: "1" } },
      }),
      next("1", {
        status: "completed",
        _meta: { terminal_output_delta: { data: "lo\n", terminal_id: "1" }, terminal_exit: { exit_code: 0 } },
      }),
    ],
    expected: {
      toolName: "execute",
      toolCategory: "command",
      input: { command, cwd: "/w" },
      content: "hello\n",
    },
  },
  {
    agent: "codex-acp, a server's tool: server and tool are in rawInput, the result in rawOutput",
    updates: [
      call("2", {
        kind: "execute",
        title: "mcp.tests.echo",
        status: "in_progress",
        rawInput: { server: "tests", tool: "echo", arguments: { text: "hello" } },
      }),
      next("2", {
        status: "completed",
        rawOutput: { result: { content: [{ type: "text", text: "hello" }] }, error: null },
      }),
    ],
    expected: {
      toolName: "mcp__tests__echo",
      toolCategory: "mcp",
      input: { text: "hello" },
      content: "hello",
    },
  },
  {
    agent: "Zed's codex-acp, a command: permission is asked before the call is announced",
    permission: {
      after: 0,
      toolCall: {
        toolCallId: "3",
        kind: "execute",
        status: "pending",
        title: command,
        content: text("Why it is needed"),
        rawInput: { command: ["bash", "-lc", command] },
      },
    },
    updates: [
      call("3", {
        title: command,
        kind: "execute",
        status: "in_progress",
        rawInput: { command: ["bash", "-lc", command] },
      }),
      next("3", {
        status: "completed",
        rawOutput: { stdout: "hello\n", stderr: "", formatted_output: "hello\n", exit_code: 0 },
      }),
    ],
    expected: {
      toolName: "execute",
      toolCategory: "command",
      input: { command: ["bash", "-lc", command] },
      content: "hello\n",
    },
  },
  {
    agent: "claude-agent-acp, a command: the input comes second, and content describes the call",
    updates: [
      call("4", {
        name: "Bash",
        rawInput: {},
        status: "pending",
        title: "Terminal",
        kind: "execute",
        content: [],
      }),
      next("4", { rawInput: { command, description: "Says hello" }, content: text("Says hello") }),
      next("4", { _meta: { claudeCode: { toolName: "Bash", toolResponse: { stdout: "hello" } } } }),
      next("4", { status: "completed", rawOutput: "hello", content: text("```\nhello\n```") }),
    ],
    expected: {
      toolName: "Bash",
      toolCategory: "command",
      input: { command, description: "Says hello" },
      content: "hello",
    },
  },
  {
    agent: "claude-agent-acp, a server's tool: it is named after its server",
    updates: [
      call("5", { name: "mcp__tests__echo", rawInput: {}, status: "pending", kind: "other", content: [] }),
      next("5", { rawInput: { text: "hello" } }),
      next("5", {
        status: "completed",
        rawOutput: [{ type: "text", text: "hello" }],
        content: text("hello"),
      }),
    ],
    expected: {
      toolName: "mcp__tests__echo",
      toolCategory: "mcp",
      input: { text: "hello" },
      content: "hello",
    },
  },
  {
    agent: "OpenCode, a command: the title changes, the input is incomplete at first",
    updates: [
      call("6", { title: "bash", kind: "execute", status: "pending", rawInput: { cwd: "/w" } }),
      next("6", { status: "in_progress", title: command, rawInput: { command, cwd: "/w" } }),
      next("6", {
        status: "completed",
        title: command,
        content: text("hello\n"),
        rawOutput: { output: "hello\n", metadata: { exit: 0 } },
      }),
    ],
    expected: {
      toolName: "execute",
      toolCategory: "command",
      input: { command, cwd: "/w" },
      content: "hello\n",
    },
  },
  {
    agent: "OpenCode, a server's tool: server and tool are in the title",
    updates: [
      call("7", { title: "tests_echo", kind: "other", status: "pending", rawInput: {} }),
      next("7", { title: "tests_echo", status: "in_progress", rawInput: { text: "hello" } }),
      next("7", { status: "completed", content: text("hello"), rawOutput: { output: "hello" } }),
    ],
    expected: {
      toolName: "mcp__tests__echo",
      toolCategory: "mcp",
      input: { text: "hello" },
      content: "hello",
    },
  },
  {
    agent: "Qwen Code, a command: only the request for permission has the input",
    permission: {
      after: 1,
      toolCall: {
        toolCallId: "8",
        status: "pending",
        title: `${command} (Says hello)`,
        kind: "execute",
        rawInput: { command },
      },
    },
    updates: [
      call("8", {
        status: "pending",
        title: "Shell",
        kind: "execute",
        rawInput: {},
        _meta: { toolName: "run_shell_command" },
      }),
      next("8", {
        status: "completed",
        content: text("Command: echo hello\nOutput: hello"),
        rawOutput: { type: "shell_result", text: "hello", output: "hello", exitCode: 0 },
      }),
    ],
    expected: {
      toolName: "run_shell_command",
      toolCategory: "command",
      input: { command },
      content: "hello",
    },
  },
  {
    agent: "Gemini CLI, a command: the title is the only input",
    permission: {
      after: 0,
      toolCall: {
        toolCallId: "0",
        status: "pending",
        title: command,
        kind: "execute",
        content: text("[in /w]"),
      },
    },
    updates: [next("0", { status: "completed", title: command, content: text("hello"), kind: "execute" })],
    expected: { toolName: "execute", toolCategory: "command", input: { command }, content: "hello" },
  },
  {
    agent: "Gemini CLI, a server's tool: server and tool are in the title, and no call is announced",
    permission: {
      after: 0,
      toolCall: {
        toolCallId: "9",
        status: "pending",
        title: "echo (tests MCP Server)",
        kind: "other",
        content: text("{}"),
      },
    },
    updates: [
      next("9", {
        status: "completed",
        title: "echo (tests MCP Server)",
        content: text("hello"),
        kind: "other",
      }),
    ],
    expected: {
      toolName: "mcp__tests__echo",
      toolCategory: "mcp",
      input: { title: "echo (tests MCP Server)" },
      content: "hello",
    },
  },
];

describe("a tool call has one name, its complete input and its output", () => {
  it.each(DIALECTS)("$agent", ({ updates, permission, expected }) => {
    const mapper = new UpdateMapper({ servers: ["tests"] });
    const { toolName, toolCategory, input, content } = expected;
    const events = [...updates, undefined].flatMap((update, index) => {
      if (permission?.after === index) mapper.mapPermission(permission.toolCall);
      const allowed = permission?.after === index ? mapper.allow(permission.toolCall.toolCallId) : [];
      return [...allowed, ...(update ? mapper.map(parse(update)) : [])];
    });
    expect(events.filter(({ kind }) => kind !== "tool_progress")).toMatchObject([
      { kind: "tool_use", toolName, toolCategory, input },
      { kind: "tool_result", toolName, content, isError: false },
    ]);
    expect(new Set(events.map((event) => "toolName" in event && event.toolName))).toEqual(
      new Set([toolName]),
    );
    expect(mapper.closeOpen("over")).toEqual([]);
  });

  it("is not reported as an MCP tool without a server of that name", () => {
    const mapper = new UpdateMapper({ servers: ["other"] });
    const [use] = mapper.map(parse(call("7", { title: "tests_echo", kind: "other", status: "in_progress" })));
    expect(use).toMatchObject({ toolName: "other", toolCategory: "other" });
  });
});
