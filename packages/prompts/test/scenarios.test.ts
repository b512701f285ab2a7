// The compliance scenarios that every typed-prompt adapter must pass, under their usual names, on the real codex with a scripted
// model: results, tools, events, transcripts and disclosure.
import { callTool, type Script, think, usage } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { callNote, launch, notes, noting, plain, task } from "./noting-prompt.ts";
import {
  definePrompt,
  definePromptTool,
  evaluate,
  eventLog,
  openBundle,
  PromptExecuted,
  PromptRendered,
  RenderedTools,
  PromptSession,
  ToolInvoked,
  type TranscriptEntry,
} from "../src/index.ts";

describe("basic", () => {
  test("returns_text_response", async () => {
    await using setup = await launch(["42"]);
    await expect(evaluate(setup.codex, plain.bind()).result()).resolves.toMatchObject({ text: "42" });
  });

  test("prompt_name_propagation", async () => {
    await using setup = await launch(["42"]);
    const session = new PromptSession();
    await evaluate(setup.codex, plain.bind(), { session });
    const names = session.get(eventLog).map(({ payload }) => (payload as { prompt: string }).prompt);
    expect(names).toEqual(["ack/plain", "ack/plain", "ack/plain"]);
  });
});

describe("tools", () => {
  test("bridged_tool_is_called", async () => {
    await using setup = await launch([callNote("one"), "Done."]);
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session });
    expect(session.get(notes)).toEqual(["one"]);
  });

  test("tool_result_is_correct", async () => {
    await using setup = await launch([callNote("one"), "Done."]);
    await evaluate(setup.codex, noting.bind());
    expect(JSON.stringify(setup.model.requests[1]?.output("call-one"))).toContain("noted one");
  });
});

describe("output", () => {
  const report = definePrompt({
    ns: "ack",
    key: "report",
    sections: [task],
    output: z.object({
      title: z.string(),
      count: z.int(),
      ratio: z.number(),
      done: z.boolean(),
      tags: z.array(z.string()),
      note: z.string().optional(),
    }),
  });

  test("structured_output_parsing", async () => {
    await using setup = await launch([
      '{"title":"t","count":1,"ratio":0.5,"done":true,"tags":["a"],"note":null}',
    ]);
    const { output } = await evaluate(setup.codex, report.bind());
    expect(output).toEqual({ title: "t", count: 1, ratio: 0.5, done: true, tags: ["a"] });
  });

  test("type_fidelity", async () => {
    await using setup = await launch([
      '{"title":"t","count":"1","ratio":0.5,"done":true,"tags":["a"],"note":null}',
    ]);
    await expect(evaluate(setup.codex, report.bind()).result()).rejects.toMatchObject({ phase: "response" });
  });
});

describe("events", () => {
  test("prompt_rendered, rendered_tools, tool_invoked and prompt_executed, in this order", async () => {
    await using setup = await launch([[callNote("one"), usage({ input: 100, output: 10 })], "Done."]);
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session });

    expect(session.eventsOf(PromptRendered)).toMatchObject([{ text: "## 1. Task\n\nDo the task." }]);
    expect(session.eventsOf(RenderedTools)).toMatchObject([
      { tools: [{ name: "note", description: "Stores a note" }] },
    ]);
    expect(session.eventsOf(ToolInvoked)).toMatchObject([
      { tool: "note", input: { text: "one" }, success: true, value: "noted one", callId: "call-one" },
    ]);
    expect(session.eventsOf(PromptExecuted)).toMatchObject([{ status: "completed", turns: 1 }]);
    expect(session.eventsOf(PromptExecuted)[0]?.usage.inputTokens).toBeGreaterThanOrEqual(100);
  });
});

describe("transcript", () => {
  const record = async (model: Script): Promise<readonly TranscriptEntry[]> => {
    await using setup = await launch(model);
    const entries: TranscriptEntry[] = [];
    await evaluate(setup.codex, noting.bind(), { transcript: (entry) => entries.push(entry) });
    return entries;
  };

  test("user_message, assistant_message and tool_use_before_result", async () => {
    const entries = await record([[think("Hm."), callNote("one")], "Done."]);
    const types = entries.map(({ type }) => type);
    expect(entries.find(({ type }) => type === "user_message")?.detail).toMatchObject({
      content: [{ text: "## 1. Task\n\nDo the task." }],
    });
    expect(entries.findLast(({ type }) => type === "assistant_message")?.detail).toMatchObject({
      text: "Done.",
    });
    expect(types).toContain("thinking");
    expect(types).toContain("token_usage");
    expect(types.indexOf("tool_use")).toBeGreaterThan(-1);
    expect(types.indexOf("tool_use")).toBeLessThan(types.indexOf("tool_result"));
  });

  test("envelope_completeness, sequence_monotonicity, canonical_types_only and adapter_label", async () => {
    const entries = await record([callNote("one"), "Done."]);
    const canonical = new Set([
      "user_message",
      "assistant_message",
      "tool_use",
      "tool_result",
      "thinking",
      "system_event",
      "token_usage",
      "error",
      "unknown",
    ]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ prompt: "ack/noting", adapter: "codex", source: "main" });
      expect(entry.at).toBeGreaterThan(0);
      expect(canonical).toContain(entry.type);
    }
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
  });

  test("start_stop", async () => {
    const entries = await record(["Done."]);
    expect(entries.at(0)).toMatchObject({ type: "system_event", detail: { event: "start" } });
    expect(entries.at(-1)).toMatchObject({
      type: "system_event",
      detail: { event: "stop", status: "completed" },
    });
  });

  test("in_debug_bundle", async () => {
    await using folder = await tempFolder("bundles");
    await using setup = await launch([callNote("one"), "Done."]);
    const { bundle = "" } = await evaluate(setup.codex, noting.bind(), { bundle: folder.path });
    const { transcript, manifest } = await openBundle(bundle);
    expect(manifest).toMatchObject({ prompt: "ack/noting", status: "completed" });
    expect(transcript.map((entry) => (entry as TranscriptEntry).type)).toContain("tool_result");
  });

  test("a sink that throws does not end the evaluation", async () => {
    await using setup = await launch(["Done."]);
    const transcript = (): never => {
      throw new Error("full");
    };
    await expect(evaluate(setup.codex, plain.bind(), { transcript }).result()).resolves.toMatchObject({
      text: "Done.",
    });
  });
});

describe("disclosure", () => {
  const leaf = definePromptTool({
    name: "leaf",
    description: "Leaf",
    input: z.strictObject({}),
    handler: () => "green",
  });
  const tree = definePrompt({
    ns: "ack",
    key: "tree",
    sections: [
      task,
      {
        key: "outer",
        title: "Outer",
        render: "Outer text.",
        summary: "Outer summary.",
        visibility: "summary",
        children: [
          {
            key: "inner",
            title: "Inner",
            render: "Inner text.",
            summary: "Inner summary.",
            visibility: "summary",
            tools: [leaf],
          },
        ],
      },
    ],
  });
  const open = (...keys: string[]) =>
    callTool("open_sections", { keys, reason: "r" }, { callId: `open-${keys.join("-")}` });

  test("two_level_hierarchy", async () => {
    await using setup = await launch([
      open("outer"),
      open("outer.inner"),
      callTool("leaf", {}, { callId: "leaf" }),
      "Done.",
    ]);
    const session = new PromptSession();
    const { turns } = await evaluate(setup.codex, tree.bind(), { session });
    expect(turns).toHaveLength(3);
    expect(session.eventsOf(ToolInvoked).map(({ tool, success }) => `${tool} ${success}`)).toEqual([
      "open_sections true",
      "open_sections true",
      "leaf true",
    ]);
  });

  test("direct_leaf", async () => {
    await using setup = await launch([
      open("outer", "outer.inner"),
      callTool("leaf", {}, { callId: "leaf" }),
      "Done.",
    ]);
    const session = new PromptSession();
    const { turns } = await evaluate(setup.codex, tree.bind(), { session });
    expect(turns).toHaveLength(2);
    expect(session.eventsOf(ToolInvoked).at(-1)).toMatchObject({ tool: "leaf", success: true });
  });
});
