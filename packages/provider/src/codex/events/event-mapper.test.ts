import type { CodexEvent, v2 } from "codexkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActivityEvent, Subagent } from "../../contract/agent-event.ts";
import { EventMapper } from "./event-mapper.ts";

const PLACE = { threadId: "t", turnId: "u" };
const CHILD: Subagent = { id: "child", parentId: "t", name: "Ada" };

type ItemEvent = Extract<CodexEvent, { type: "item.started" | "item.completed" }>;

function item(
  type: ItemEvent["type"],
  fields: Partial<v2.ThreadItem> & { type: string; id: string },
): CodexEvent {
  return { type, ...PLACE, item: fields as v2.ThreadItem };
}

function command(type: ItemEvent["type"], id: string, more: object = {}): CodexEvent {
  return item(type, {
    type: "commandExecution",
    id,
    command: "ls",
    cwd: "/",
    status: "completed",
    ...more,
  } as never);
}

function delta(itemId: string, kind: "message" | "command_output" | "reasoning", text: string): CodexEvent {
  return { type: "item.delta", ...PLACE, itemId, kind, delta: text };
}

/** Removes `raw`, in which every event repeats its input. */
function withoutRaw(events: readonly ActivityEvent[]): object[] {
  return events.map(({ raw: _raw, ...event }) => event);
}

/** The events that break the pairing of tools, and the tools that are left open. */
function faults(events: readonly ActivityEvent[]): unknown[] {
  const open = new Set<string>();
  const broken = events.filter((event) => {
    if (event.kind === "tool_use") return open.size === open.add(event.toolUseId).size;
    if (event.kind === "tool_result") return !open.delete(event.toolUseId);
    return event.kind === "tool_progress" && !open.has(event.toolUseId);
  });
  return [...broken, ...open];
}

describe("mapping", () => {
  it.each<[string, object, object, object]>([
    [
      "a command",
      {
        type: "commandExecution",
        command: "ls",
        cwd: "/w",
        status: "failed",
        exitCode: 2,
        aggregatedOutput: "no",
      },
      { toolName: "shell", toolCategory: "command", input: { command: "ls", cwd: "/w" } },
      { content: "no", isError: true },
    ],
    [
      "a patch",
      { type: "fileChange", changes: [{ path: "/w/a" }], status: "completed" },
      { toolName: "apply_patch", toolCategory: "edit" },
      { content: "completed: /w/a", isError: false },
    ],
    [
      "an MCP tool",
      {
        type: "mcpToolCall",
        server: "s",
        tool: "t",
        status: "completed",
        result: { content: [{ type: "text", text: "ok" }, 1] },
      },
      { toolName: "mcp__s__t", toolCategory: "mcp" },
      { content: "ok\n1", isError: false },
    ],
    [
      "an MCP tool that fails",
      {
        type: "mcpToolCall",
        server: "s",
        tool: "t",
        status: "failed",
        error: { message: "broke" },
        result: null,
      },
      { toolName: "mcp__s__t" },
      { content: "broke", isError: true },
    ],
    [
      "a dynamic tool",
      {
        type: "dynamicToolCall",
        tool: "weather",
        arguments: {},
        status: "completed",
        contentItems: [{ text: "snow" }],
        success: true,
      },
      { toolName: "weather", toolCategory: "other" },
      { content: "snow", isError: false },
    ],
    [
      "a subagent call",
      {
        type: "collabAgentToolCall",
        tool: "spawnAgent",
        status: "completed",
        receiverThreadIds: ["c"],
        agentsStates: {},
      },
      { toolName: "spawnAgent", toolCategory: "agent" },
      { content: "{}", isError: false },
    ],
    [
      "a search",
      { type: "webSearch", query: "x" },
      { toolName: "web_search", toolCategory: "search" },
      { isError: false },
    ],
    ["an image view", { type: "imageView", path: "/a.png" }, { toolName: "view_image" }, { isError: false }],
  ])("reports %s as a tool", (_, fields, use, result) => {
    const mapper = new EventMapper();
    const whole = { id: "i", ...fields } as never;
    const events = [...mapper.map(item("item.started", whole)), ...mapper.map(item("item.completed", whole))];
    expect(withoutRaw(events)).toMatchObject([
      { kind: "tool_use", toolUseId: "i", ...use },
      { kind: "tool_result", toolUseId: "i", ...result },
    ]);
  });

  it("reports the start of a tool that Codex reports only when it is complete", () => {
    expect(withoutRaw(new EventMapper().map(command("item.completed", "c")))).toMatchObject([
      { kind: "tool_use" },
      { kind: "tool_result" },
    ]);
  });

  it("reports how long a tool has been running, and its output", () => {
    let now = 1_000;
    const mapper = new EventMapper(() => now);
    mapper.map(command("item.started", "c"));
    now = 3_500;
    expect(withoutRaw(mapper.map(delta("c", "command_output", "half")))).toEqual([
      { kind: "tool_progress", toolUseId: "c", toolName: "shell", elapsedSeconds: 2.5, output: "half" },
    ]);
  });

  it("reports a message once: in deltas, or complete if there were none", () => {
    const mapper = new EventMapper();
    const message = (id: string): CodexEvent =>
      item("item.completed", { type: "agentMessage", id, text: "Hello" } as never);
    const events = [delta("a", "message", "Hel"), delta("a", "message", "lo"), message("a"), message("b")];
    expect(withoutRaw(events.flatMap((event) => mapper.map(event)))).toEqual([
      { kind: "assistant_text", text: "Hel", messageId: "a" },
      { kind: "assistant_text", text: "lo", messageId: "a" },
      { kind: "assistant_text", text: "Hello", messageId: "b" },
    ]);
  });

  it.each<[string, CodexEvent, string, string]>([
    [
      "a thought",
      item("item.completed", { type: "reasoning", id: "r", summary: ["Hm"], content: [] } as never),
      "reasoning",
      "Hm",
    ],
    [
      "a plan",
      { type: "plan.updated", ...PLACE, plan: [{ step: "Look", status: "pending" }], explanation: null },
      "plan_updated",
      "pending: Look",
    ],
    [
      "a diff",
      { type: "diff.updated", ...PLACE, diff: "a\nb" },
      "diff_updated",
      "The diff of this turn has 2 lines.",
    ],
    ["a warning", { type: "warning", kind: "retrying", message: "again" }, "retrying", "again"],
    [
      "an unanswered request",
      { type: "warning", kind: "unanswered_request", message: "x" },
      "unhandled_server_request",
      "x",
    ],
    ["an unknown notification", { type: "unknown", raw: { method: "thread/new" } }, "thread/new", ""],
  ])("reports %s as a system event", (_, event, subtype, message) => {
    const [system] = new EventMapper().map(event);
    expect(system).toEqual({ kind: "system", subtype, message, raw: event });
  });

  it("marks events of a subagent, keeps its tools separate, and reports its turns", () => {
    const mapper = new EventMapper();
    const own = mapper.map(command("item.started", "c"));
    const [start, use] = [
      ...mapper.map({ type: "turn.started", ...PLACE }, CHILD),
      ...mapper.map(command("item.started", "c"), CHILD),
    ];
    expect(own).toMatchObject([{ toolUseId: "c" }]);
    expect(own[0]).not.toHaveProperty("subagent");
    expect(start).toMatchObject({ kind: "system", subtype: "subagent_started", subagent: CHILD });
    expect(use).toMatchObject({ toolUseId: "child/c", subagent: CHILD });
    expect(mapper.map({ type: "turn.started", ...PLACE })).toEqual([]);
  });

  it.each([
    ["accept", false, 1],
    ["acceptForSession", false, 1],
    [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: ["ls"] } }, false, 1],
    ["decline", true, 2],
    ["cancel", true, 2],
    [{ permissions: {} }, true, 2],
    [{ permissions: { network: { enabled: true } } }, false, 1],
    [{ applyNetworkPolicyAmendment: { network_policy_amendment: { host: "x", action: "deny" } } }, true, 2],
  ] as const)("reports the answer %j", (decision, isError, events) => {
    const mapper = new EventMapper();
    const place = { ...PLACE, requestId: 7, kind: "command" } as const;
    const [use] = mapper.map({ type: "approval.requested", ...place, request: {} as never });
    expect(use).toMatchObject({ kind: "tool_use", toolUseId: "request-7", toolCategory: "approval" });
    const resolved = mapper.map({
      type: "approval.resolved",
      ...place,
      outcome: { by: "handler", decision: decision as never },
    });
    expect(resolved).toHaveLength(events);
    expect(resolved[0]).toMatchObject({ kind: "tool_result", toolUseId: "request-7", isError });
  });

  it("ends every started tool exactly once, whatever Codex omits or repeats", () => {
    const step = fc.record({
      what: fc.constantFrom("started", "completed", "output"),
      id: fc.constantFrom("a", "b", "c"),
      author: fc.constantFrom(undefined, CHILD),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const mapper = new EventMapper();
        const events: ActivityEvent[] = steps.flatMap(({ what, id, author }) =>
          mapper.map(
            what === "output" ? delta(id, "command_output", "x") : command(`item.${what as "started"}`, id),
            author,
          ),
        );
        events.push(...mapper.closeOpen("over"));
        expect(faults(events)).toEqual([]);
        expect(mapper.closeOpen("again")).toEqual([]);
      }),
    );
  });
});
