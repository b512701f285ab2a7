import { describe, expect, test } from "vitest";
import { findCall } from "./open-work.ts";
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
