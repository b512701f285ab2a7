import { describe, expect, it } from "vitest";

import { classicBody, codeModeBody } from "../test/post.ts";
import { ScriptRequest } from "./script-request.ts";

function request(body: Record<string, unknown>): ScriptRequest {
  return new ScriptRequest(0, {}, { json: body, bytes: 0 }, Promise.resolve("completed"));
}

function user(text: string): Record<string, unknown> {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function cell(callId: string, ...texts: string[]): Record<string, unknown> {
  const output = texts.map((text) => ({ type: "input_text", text }));
  return { type: "custom_tool_call_output", call_id: callId, output };
}

function label(id: string, ok: boolean, value: string): string {
  return JSON.stringify({ call_id: id, ok, value });
}

function returned(id: string): Record<string, unknown> {
  return { type: "function_call_output", call_id: id, output: id };
}

function newIds(...input: unknown[]): string[] {
  return request({ input }).newOutputs.map(({ callId }) => callId);
}

describe("a request", () => {
  it("knows its kind and its tools", () => {
    expect(request(classicBody).kind).toBe("classic");
    expect(request(classicBody).toolNames).toEqual(["exec_command", "apply_patch", "lab__mix", "web_search"]);
    expect(request(codeModeBody).kind).toBe("code");
    expect(request(codeModeBody).toolNames).toEqual([
      "exec",
      "exec_command",
      "apply_patch",
      "request_user_input",
      "collaboration__spawn_agent",
    ]);
    expect(request(classicBody).tool("mix", "lab")).toEqual({
      name: "mix",
      namespace: "lab",
      type: "function",
    });
    expect(request({}).kind).toBe("classic");
  });

  it("finds the user's last text", () => {
    const input = [
      user("first"),
      user("second"),
      user("<environment_context>\n<cwd>/</cwd>\n</environment_context>"),
    ];
    expect(request({ input }).lastUserText).toBe("second");
    expect(request({}).lastUserText).toBe("");
  });

  it("reads its thread and turn", () => {
    const { threadId, turnId } = request({ client_metadata: { thread_id: "t", turn_id: "u" } });
    expect([threadId, turnId]).toEqual(["t", "u"]);
    expect(request({}).threadId).toBeUndefined();
  });

  it("reads outputs of direct calls", () => {
    const text = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\na\nOutput:\nb\n";
    const read = request({ input: [{ type: "function_call_output", call_id: "c", output: text }] });
    expect(read.outputs).toEqual([{ callId: "c", text, ok: true }]);
    expect(read.commandResult("c")).toEqual({ output: "a\nOutput:\nb\n", exitCode: 3 });
  });

  it("reads the session of a running command", () => {
    const output = "Wall time: 0.2 seconds\nProcess running with session ID 70457\nOutput:\n";
    const input = [{ type: "function_call_output", call_id: "c", output }];
    expect(request({ input }).commandResult("c")).toEqual({ output: "", sessionId: 70457 });
  });

  it("reads outputs of code, alone, shared, failed and running", () => {
    const read = request({
      input: [
        cell("a", "Script completed\nOutput:\n", '{"exit_code":0,"output":"one\\n"}'),
        cell(
          "cell_1",
          "Script completed\nOutput:\n",
          label("b", true, "{}"),
          label("c", false, "no such tool"),
        ),
        cell("d", "Script failed\nOutput:\n", "Script error:\nboom"),
        cell("e", "Script running with cell ID 7\nOutput:\n", "so far"),
      ],
    });
    expect(read.commandResult("a")).toEqual({ output: "one\n", exitCode: 0 });
    expect(read.output("b")).toEqual({ callId: "b", ok: true, text: "{}" });
    expect(read.output("c")).toEqual({ callId: "c", ok: false, text: "no such tool" });
    expect(read.output("d")).toMatchObject({ ok: false, text: "Script error:\nboom" });
    expect(read.output("e")?.text).toContain("cell ID 7");
    expect(read.output("unknown")).toBeUndefined();
  });

  it("separates new outputs from those of earlier turns", () => {
    const call = { type: "function_call", call_id: "x" };
    const answer = { type: "message", role: "assistant", content: [] };
    expect(newIds(user("hi"))).toEqual([]);
    expect(newIds(user("hi"), call, call, returned("a"), returned("b"))).toEqual(["a", "b"]);
    expect(newIds(user("hi"), call, returned("a"), user("and this"))).toEqual(["a"]);
    expect(newIds(user("hi"), call, returned("a"), answer, user("next"))).toEqual([]);
  });
});
