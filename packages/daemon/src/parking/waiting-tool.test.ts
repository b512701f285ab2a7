import { describe, expect, test } from "vitest";
import type { InboxRequest } from "../api/approval.ts";
import { waitsForTool } from "./waiting-tool.ts";

type ToolRequest = Extract<InboxRequest, { kind: "mcpTool" }>;

const request: ToolRequest = {
  kind: "mcpTool",
  server: "till",
  tool: "pay",
  title: null,
  description: null,
  arguments: { amount: 3 },
  message: 'Allow the till MCP server to run tool "pay"?',
};

const call = (id: string, amount = 3) => ({
  type: "function_call",
  call_id: id,
  namespace: "mcp__till",
  name: "pay",
  arguments: JSON.stringify({ amount }),
});
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "" });
const script = (input: string) => ({
  type: "custom_tool_call",
  call_id: "script",
  namespace: "functions",
  name: "exec",
  input,
});

function fileOf(...items: object[]): Uint8Array {
  return Buffer.from(
    items.map((payload) => `${JSON.stringify({ type: "response_item", payload })}\n`).join(""),
  );
}

/** A stored request that was sent when the file had its current length. */
function askedAt(file: Uint8Array) {
  return { request: JSON.stringify(request), rollout_bytes: file.length };
}

describe("a tool call waits for a decision", () => {
  test("until its request is stored", () => {
    const file = fileOf(call("a"));
    expect(waitsForTool(file, request, [])).toBe(true);
    expect(waitsForTool(file, request, [askedAt(file)])).toBe(false);
  });

  test("once per call", () => {
    const file = fileOf(call("a"), call("b"));
    expect(waitsForTool(file, request, [askedAt(file)])).toBe(true);
    expect(waitsForTool(file, request, [askedAt(file), askedAt(file)])).toBe(false);
  });

  test("also if an identical request was sent earlier in the turn", () => {
    const before = fileOf(call("a"));
    const file = fileOf(call("a"), output("a"), call("b"));
    expect(waitsForTool(file, request, [askedAt(before)])).toBe(true);
  });

  test("inside a script that names it, once", () => {
    const file = fileOf(script("await tools.mcp__till__pay({amount: 3})"));
    expect(waitsForTool(file, request, [])).toBe(true);
    expect(waitsForTool(file, request, [askedAt(file)])).toBe(false);
  });

  test.each([
    ["nothing was called", fileOf()],
    ["the call has its output", fileOf(call("a"), output("a"))],
    ["the call has other arguments", fileOf(call("a", 4))],
    ["the script does not name it", fileOf(script("text(1)"))],
    ["the script has ended", fileOf(script("pay"), { ...output("script"), type: "custom_tool_call_output" })],
  ])("but not if %s", (_, file) => {
    expect(waitsForTool(file, request, [])).toBe(false);
  });
});
