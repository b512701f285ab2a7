import { describe, expect, it } from "vitest";

import { classicBody, codeModeBody } from "../test/post.ts";
import { askUser, callTool, code, patch, run, writeStdin } from "./calls.ts";
import { idSequence } from "./ids.ts";
import type { AnyCall } from "./plan-calls.ts";
import { planCalls } from "./plan-calls.ts";
import { ScriptRequest } from "./script-request.ts";

const files = "*** Begin Patch\n*** Add File: a.txt\n+EOF\n*** End Patch\n";

function plan(body: Record<string, unknown>, ...calls: AnyCall[]): readonly Record<string, unknown>[] {
  const request = new ScriptRequest(0, {}, { json: body, bytes: 0 }, Promise.resolve("completed"));
  return planCalls(calls, request, idSequence(""));
}

describe("on a model that calls tools", () => {
  it("makes separate calls", () => {
    const planned = plan(
      classicBody,
      run("ls", { escalate: "why", yieldMs: 300 }),
      writeStdin(4, "y\n"),
      callTool("mix", { a: 1 }, { namespace: "lab" }),
      patch(files),
    );
    expect(planned).toEqual([
      {
        type: "function_call",
        call_id: "call_1",
        name: "exec_command",
        arguments:
          '{"cmd":"ls","sandbox_permissions":"require_escalated","justification":"why","yield_time_ms":300}',
      },
      {
        type: "function_call",
        call_id: "call_2",
        name: "write_stdin",
        arguments: '{"session_id":4,"chars":"y\\n"}',
      },
      { type: "function_call", call_id: "call_3", name: "mix", namespace: "lab", arguments: '{"a":1}' },
      { type: "custom_tool_call", call_id: "call_4", name: "apply_patch", input: files },
    ]);
  });

  it("patches through the shell if there is no patch tool", () => {
    const [planned] = plan({ tools: [{ type: "function", name: "exec_command" }] }, patch("+x\nEOF\n"));
    expect(planned).toMatchObject({ name: "exec_command" });
    expect(JSON.parse(String(planned?.["arguments"]))).toEqual({
      cmd: "apply_patch <<'EOF_'\n+x\nEOF\nEOF_",
    });
  });
});

describe("on a model that writes code", () => {
  it("writes one call as a cell with its id", () => {
    expect(plan(codeModeBody, run("ls"))).toEqual([
      {
        type: "custom_tool_call",
        call_id: "call_1",
        namespace: "functions",
        name: "exec",
        input: '// @exec: {"yield_time_ms": 3600000}\ntext(await tools.exec_command({"cmd":"ls"}));\n',
      },
    ]);
  });

  it("writes adjacent calls into one cell, where they run in parallel", () => {
    const planned = plan(
      codeModeBody,
      run("a"),
      patch(files),
      callTool("mix-up", {}, { namespace: "my-lab" }),
    );
    expect(planned).toHaveLength(1);
    expect(planned[0]).toMatchObject({ call_id: "cell_1" });
    const source = String(planned[0]?.["input"]);
    expect(source).toContain('const ids = ["call_1","call_2","call_3"];');
    expect(source).toContain(`tools.apply_patch(${JSON.stringify(files)}),`);
    expect(source).toContain("tools.my_lab__mix_up({}),");
  });

  it("makes direct calls of tools offered to the model, with their namespace", () => {
    const planned = plan(
      codeModeBody,
      run("a"),
      askUser([]),
      callTool("spawn_agent", {}, { namespace: "collaboration" }),
      run("b"),
    );
    expect(planned.map(({ name, namespace }) => [namespace, name])).toEqual([
      ["functions", "exec"],
      ["functions", "request_user_input"],
      ["collaboration", "spawn_agent"],
      ["functions", "exec"],
    ]);
  });

  it("keeps code and direct calls unchanged", () => {
    const planned = plan(
      codeModeBody,
      code("text(1)"),
      run("a", { via: "direct" }),
      patch(files, { via: "direct" }),
    );
    expect(planned.map(({ name }) => name)).toEqual(["exec", "exec_command", "apply_patch"]);
    expect(planned[0]?.["input"]).toBe("text(1)");
  });
});
