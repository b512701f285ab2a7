import type { v2 } from "@codexkit/protocol";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineTool, toolNamespace } from "./define-tool.ts";
import { TOOL_LIMITS } from "./limits.ts";
import { ToolHost } from "./tool-host.ts";
import type { AnyTool, ToolContext } from "./tool.ts";

const input = z.object({});
const { signal: never } = new AbortController();

function call(
  host: ToolHost,
  tool: string,
  args: unknown = {},
  { namespace = null as string | null, signal = never } = {},
): Promise<v2.DynamicToolCallResponse> {
  const params = { threadId: "t1", turnId: "u1", callId: "c1", namespace, tool, arguments: args };
  return host.call(params as v2.DynamicToolCallParams, { signal });
}

const textOf = ({ contentItems: [first] }: v2.DynamicToolCallResponse): string =>
  first?.type === "inputText" ? first.text : "";
const host = (...tools: AnyTool[]): ToolHost => new ToolHost(tools);

afterEach(() => {
  vi.useRealTimers();
});

describe("a tool host", () => {
  it("calls the tool with its validated input and its context", async () => {
    let seen: ToolContext | undefined;
    const add = defineTool({
      name: "add",
      description: "Adds",
      input: z.object({ a: z.number(), b: z.number().default(10) }),
      execute: async ({ a, b }, context) => {
        seen = context;
        return `${a + b}`;
      },
    });
    await expect(call(host(add), "add", { a: 1 })).resolves.toEqual({
      success: true,
      contentItems: [{ type: "inputText", text: "11" }],
    });
    expect(seen).toMatchObject({ threadId: "t1", turnId: "u1", callId: "c1", tool: "add" });
  });

  it("distinguishes tools with the same name by namespace", async () => {
    const named = (what: string): AnyTool =>
      defineTool({ name: "mix", description: "", input, execute: () => what });
    const both = host(
      named("outside"),
      toolNamespace({ name: "lab", description: "", tools: [named("inside")] as never }),
    );
    expect(textOf(await call(both, "mix"))).toBe("outside");
    expect(textOf(await call(both, "mix", {}, { namespace: "lab" }))).toBe("inside");
    const unknown = await call(both, "mix", {}, { namespace: "yard" });
    expect(unknown.success).toBe(false);
    expect(textOf(unknown)).toBe("There is no tool yard.mix. Known tools: mix, lab.mix.");
  });

  it("reports invalid arguments to the model without running the tool", async () => {
    const execute = vi.fn<() => string>(() => "done");
    const schemas = [
      z.object({ size: z.number().max(5) }),
      { type: "object", properties: { size: { type: "number", maximum: 5 } }, required: ["size"] },
    ];
    for (const schema of schemas) {
      const tool = defineTool({ name: "cut", description: "", input: schema as z.ZodObject, execute });
      for (const args of [{ size: 6 }, { size: "6" }, {}, null, "text", []]) {
        const { success, contentItems } = await call(host(tool), "cut", args);
        expect(success).toBe(false);
        expect(contentItems).toMatchObject([{ text: expect.stringMatching(/not valid; correct them[^]*✖/) }]);
      }
    }
    expect(execute).not.toHaveBeenCalled();
  });

  it("passes arguments unchanged if the schema can't be validated", async () => {
    const tool = defineTool({
      name: "any",
      description: "",
      input: { type: "object", properties: {}, not: { required: ["x"] } },
      execute: (args) => args,
    });
    expect(textOf(await call(host(tool), "any", { x: 1 }))).toContain('"x": 1');
  });

  it.each([
    ["throws", () => Promise.reject(new Error("out of paper")), "The tool t failed: out of paper"],
    [
      "throws a value without a string representation",
      () => Promise.reject(Object.create(null)),
      "The tool t failed: it threw a value that can't be converted",
    ],
    ["returns media that can't be read", async () => ({ image: "/none.png" }), "ENOENT"],
  ])("responds when a tool %s", async (_what, execute, message) => {
    const { success, contentItems } = await call(
      host(defineTool({ name: "t", description: "", input, execute })),
      "t",
    );
    expect(success).toBe(false);
    expect(contentItems).toMatchObject([{ text: expect.stringContaining(message) }]);
  });

  it("responds when a tool times out, and aborts its signal", async () => {
    vi.useFakeTimers();
    let seen: AbortSignal | undefined;
    const tool = defineTool({
      name: "slow",
      description: "",
      input,
      timeoutMs: 500,
      execute: (_input, { signal }) => {
        seen = signal;
        return new Promise(() => {});
      },
    });
    const response = call(host(tool), "slow");
    await vi.advanceTimersByTimeAsync(500);
    expect(textOf(await response)).toBe("The tool slow failed: it took longer than 500 ms");
    expect(seen?.reason).toMatchObject({ code: "timeout" });
  });

  it("stops a tool when its turn ends", async () => {
    const turn = new AbortController();
    const tool = defineTool({
      name: "slow",
      description: "",
      input,
      execute: (_input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve("stopped"));
        }),
    });
    const response = call(host(tool), "slow", {}, { signal: turn.signal });
    await Promise.resolve();
    turn.abort(new Error("The turn ended."));
    expect((await response).success).toBe(false);
    const late = await call(host(tool), "slow", {}, { signal: turn.signal });
    expect(textOf(late)).toContain("The turn ended.");
  });
});

describe("calls of one tool", () => {
  function recorder(parallel: boolean): { tool: AnyTool; log: string[]; finish: (() => void)[] } {
    const log: string[] = [];
    const finish: (() => void)[] = [];
    const tool = defineTool({
      name: "write",
      description: "",
      input: z.object({ n: z.number() }),
      parallel,
      timeoutMs: 1000,
      execute: async ({ n }) => {
        log.push(`begin ${n}`);
        await new Promise<void>((resolve) => {
          finish.push(resolve);
        });
        log.push(`end ${n}`);
      },
    });
    return { tool, log, finish };
  }

  /** Runs all pending microtasks. */
  const settle = (): Promise<unknown> => new Promise(setImmediate);

  it("run one at a time, in order", async () => {
    const { tool, log, finish } = recorder(false);
    const one = host(tool);
    const calls = [1, 2, 3].map((n) => call(one, "write", { n }));
    for (const _call of calls) {
      await settle();
      finish.shift()?.();
    }
    await Promise.all(calls);
    expect(log).toEqual(["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
  });

  it("run in parallel if the tool allows it", async () => {
    const { tool, log, finish } = recorder(true);
    const one = host(tool);
    const calls = [1, 2].map((n) => call(one, "write", { n }));
    await settle();
    expect(log).toEqual(["begin 1", "begin 2"]);
    for (const end of finish) end();
    await Promise.all(calls);
  });

  it("of two threads run in parallel", async () => {
    const { tool, log, finish } = recorder(false);
    const calls = [call(host(tool), "write", { n: 1 }), call(host(tool), "write", { n: 2 })];
    await settle();
    expect(log).toEqual(["begin 1", "begin 2"]);
    for (const end of finish) end();
    await Promise.all(calls);
  });

  it("continue after a failed call and after a hanging one", async () => {
    vi.useFakeTimers();
    const { tool, log, finish } = recorder(false);
    const one = host(tool);
    const wrong = call(one, "write", { n: "x" });
    const hangs = call(one, "write", { n: 1 });
    const last = call(one, "write", { n: 2 });
    expect((await wrong).success).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(textOf(await hangs)).toContain("longer than 1000 ms");
    expect(log).toEqual(["begin 1"]);
    // The aborted call gets time to stop.
    await vi.advanceTimersByTimeAsync(TOOL_LIMITS.stopGraceMs);
    expect(log).toEqual(["begin 1", "begin 2"]);
    finish[1]?.();
    expect((await last).success).toBe(true);
  });
});
