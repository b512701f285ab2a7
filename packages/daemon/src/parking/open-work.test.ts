import { describe, expect, test } from "vitest";
import type { ItemRow } from "../database/tables.ts";
import { findCall, findWaitingTools } from "./open-work.ts";
import type { ModelCall } from "./rollout-lines.ts";

function call(callId: string, input = "{}", name = "exec_command", namespace?: string): ModelCall {
  return { callId, type: "function_call", name, namespace, input, atByte: 0 };
}

describe("the call of a request", () => {
  const request = { call_id: "1", kind: "command", request: "{}" } as const;

  test("has its ID", () => {
    const calls = [call("0"), call("1")];
    expect(findCall(request, calls)).toBe(calls[1]);
  });

  test("is not known if two calls have its ID", () => {
    expect(findCall(request, [call("1", '{"cmd":"good"}'), call("1", '{"cmd":"evil"}')])).toBeUndefined();
  });

  test("of an MCP tool has the arguments that were shown", () => {
    const shown = JSON.stringify({
      kind: "mcpTool",
      server: "files",
      tool: "remove",
      arguments: { path: "a" },
    });
    const asked = { call_id: null, kind: "mcpTool", request: shown } as const;
    const other = call("1", '{"path":"b"}', "remove", "mcp__files");
    const same = call("2", '{ "path": "a" }', "remove", "mcp__files");

    expect(findCall(asked, [other, same])).toBe(same);
    expect(findCall(asked, [other])).toBeUndefined();
  });
});

describe("the waiting items of MCP tools", () => {
  const request = (amount: number): { request: string } => ({
    request: JSON.stringify({ kind: "mcpTool", server: "till", tool: "pay", arguments: { amount } }),
  });
  const item = (id: string, amount: number, status: ItemRow["status"] = "running"): ItemRow =>
    ({
      item_id: id,
      kind: "mcpToolCall",
      status,
      preview: JSON.stringify({ server: "till", tool: "pay", arguments: { amount } }),
    }) as ItemRow;

  test("are those with the arguments of a request", () => {
    const items = [item("a", 1), item("b", 2), item("c", 1, "completed"), item("d", 3, "abandoned")];
    expect(findWaitingTools([request(1), request(3)], items)).toEqual(["a", "d"]);
  });

  test("are unknown if more equal calls are open than requests", () => {
    expect(findWaitingTools([request(1)], [item("a", 1), item("b", 1)])).toEqual([]);
    expect(new Set(findWaitingTools([request(1), request(1)], [item("a", 1), item("b", 1)]))).toEqual(
      new Set(["a", "b"]),
    );
  });
});
