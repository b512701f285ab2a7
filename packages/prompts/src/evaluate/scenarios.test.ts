// The compliance scenarios that every adapter of typed prompts must pass, under their usual names, on the real codex with a
// scripted model.
import { callTool, patch, run, type Script, think, usage } from "@codexkit/scripted-model";
import { launchCodex, tempFolder } from "@codexkit/testing";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  customPolicy,
  Deadline,
  definePrompt,
  definePromptTool,
  defineSlice,
  evaluate,
  eventLog,
  filesExist,
  openBundle,
  openWorkspace,
  PromptExecuted,
  PromptRendered,
  RenderedTools,
  Session,
  staticFeedback,
  ToolFailure,
  ToolInvoked,
  type TranscriptEntry,
} from "../index.ts";

const launch = (model: Script) => launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });

const task = { key: "task", title: "Task", render: "Do the task." };
const plain = definePrompt({ ns: "ack", key: "plain", sections: [task] });

const notes = defineSlice<readonly string[]>({ name: "notes", schema: z.array(z.string()), initial: [] });
const note = definePromptTool({
  name: "note",
  description: "Stores a note",
  input: z.strictObject({ text: z.string() }),
  output: z.string(),
  handler: ({ text }, { session, workspace }) => {
    session.update(notes, (all) => [...all, text]);
    workspace?.writeText(`${text}.txt`, text);
    if (text.startsWith("bad")) throw new ToolFailure(`"${text}" is refused.`);
    return `noted ${text}`;
  },
});
const noting = definePrompt({ ns: "ack", key: "noting", sections: [task], tools: [note] });
const callNote = (text: string) => callTool("note", { text }, { callId: `call-${text}` });

describe("basic", () => {
  test("returns_text_response", async () => {
    await using setup = await launch(["42"]);
    await expect(evaluate(setup.codex, plain.bind()).result()).resolves.toMatchObject({ text: "42" });
  });

  test("prompt_name_propagation", async () => {
    await using setup = await launch(["42"]);
    const session = new Session();
    await evaluate(setup.codex, plain.bind(), { session });
    const names = session.get(eventLog).map(({ payload }) => (payload as { prompt: string }).prompt);
    expect(names).toEqual(["ack/plain", "ack/plain", "ack/plain"]);
  });
});

describe("tools", () => {
  test("bridged_tool_is_called", async () => {
    await using setup = await launch([callNote("one"), "Done."]);
    const session = new Session();
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
    const session = new Session();
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
    const session = new Session();
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
    const session = new Session();
    const { turns } = await evaluate(setup.codex, tree.bind(), { session });
    expect(turns).toHaveLength(2);
    expect(session.eventsOf(ToolInvoked).at(-1)).toMatchObject({ tool: "leaf", success: true });
  });
});

describe("transactions", () => {
  test("failure_rolls_back_filesystem", async () => {
    await using setup = await launch([callNote("bad"), "Done."]);
    await using workspace = openWorkspace();
    await evaluate(setup.codex, noting.bind(), { workspace });
    expect(workspace.exists("bad.txt")).toBe(false);
  });

  test("failure_rolls_back_session_state", async () => {
    await using setup = await launch([callNote("bad"), "Done."]);
    const session = new Session();
    await evaluate(setup.codex, noting.bind(), { session });
    expect(session.get(notes)).toEqual([]);
    expect(session.eventsOf(ToolInvoked)).toHaveLength(1);
  });

  test("sequential_isolation", async () => {
    await using setup = await launch([callNote("one"), callNote("bad"), callNote("two"), "Done."]);
    await using workspace = openWorkspace();
    const session = new Session();
    await evaluate(setup.codex, noting.bind(), { session, workspace });
    expect(session.get(notes)).toEqual(["one", "two"]);
    expect(["one.txt", "bad.txt", "two.txt"].map((name) => workspace.exists(name))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("calls of one response are isolated too", async () => {
    await using setup = await launch([[callNote("one"), callNote("bad"), callNote("two")], "Done."]);
    await using workspace = openWorkspace();
    const session = new Session();
    await evaluate(setup.codex, noting.bind(), { session, workspace });
    expect(session.get(notes).toSorted()).toEqual(["one", "two"]);
    expect(["one.txt", "bad.txt", "two.txt"].map((name) => workspace.exists(name))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("rollback_in_bundle", async () => {
    await using folder = await tempFolder("bundles");
    await using setup = await launch([callNote("bad"), "Done."]);
    const { bundle = "" } = await evaluate(setup.codex, noting.bind(), { bundle: folder.path });
    const { sessionAfter, events } = await openBundle(bundle);
    expect(sessionAfter).toMatchObject({ slices: { notes: [] } });
    expect(events).toContainEqual(
      expect.objectContaining({ type: "ToolInvoked", payload: expect.objectContaining({ success: false }) }),
    );
  });
});

describe("errors", () => {
  test("deadline_enforcement", async () => {
    await using setup = await launch([run("sleep 60"), "Done."]);
    const error = await evaluate(setup.codex, plain.bind(), {
      deadline: Deadline.in(1_500),
      thread: { sandbox: "danger-full-access", cwd: setup.workspace },
    })
      .result()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "deadline_exceeded", phase: "budget" });
  });

  test("a deadline that has passed is refused before anything is sent", async () => {
    await using setup = await launch(["Done."]);
    await expect(
      evaluate(setup.codex, plain.bind(), { deadline: Deadline.in(-1) }).result(),
    ).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
    expect(setup.model.requests).toHaveLength(0);
  });

  test("invalid_params_returns_error", async () => {
    await using setup = await launch([callTool("note", { text: 1 }, { callId: "bad" }), "Done."]);
    const { text } = await evaluate(setup.codex, noting.bind());
    expect(text).toBe("Done.");
    expect(JSON.stringify(setup.model.requests[1]?.output("bad"))).toContain("arguments of note are invalid");
  });
});

describe("guardrails", () => {
  test("policy_denies_call", async () => {
    const guarded = definePrompt({
      ns: "ack",
      key: "guarded",
      sections: [task],
      tools: [note],
      policies: [customPolicy("quiet", () => "Not now.")],
    });
    await using setup = await launch([callNote("one"), "Done."]);
    const session = new Session();
    await evaluate(setup.codex, guarded.bind(), { session });
    expect(session.get(notes)).toEqual([]);
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe('The policy "quiet" denies the call: Not now.');
  });

  test("a policy that fails denies the call", async () => {
    const guarded = definePrompt({
      ns: "ack",
      key: "broken",
      sections: [task],
      tools: [note],
      policies: [
        customPolicy("broken", () => {
          throw new Error("no");
        }),
      ],
    });
    await using setup = await launch([callNote("one"), "Done."]);
    const session = new Session();
    await evaluate(setup.codex, guarded.bind(), { session });
    expect(session.get(notes)).toEqual([]);
  });

  test("feedback_delivers", async () => {
    const coached = definePrompt({
      ns: "ack",
      key: "coached",
      sections: [task],
      tools: [note],
      feedback: [staticFeedback("coach", "Keep going.", { everyCalls: 1 })],
    });
    await using setup = await launch([callNote("one"), "Done."]);
    await evaluate(setup.codex, coached.bind());
    expect(JSON.stringify(setup.model.requests[1]?.output("call-one"))).toContain("Keep going.");
  });

  const filing = definePrompt({
    ns: "ack",
    key: "filing",
    sections: [task],
    completion: filesExist("report.md"),
  });
  const inWorkspace = { sandbox: "workspace-write" } as const;

  test("completion_blocks_early_stop", async () => {
    await using setup = await launch(["Done already.", run("echo r > report.md"), "Done."]);
    await using workspace = openWorkspace();
    const { text, turns } = await evaluate(setup.codex, filing.bind(), { workspace, thread: inWorkspace });
    expect(text).toBe("Done.");
    expect(turns).toHaveLength(2);
    expect(setup.model.requests[1]?.lastUserText).toContain("report.md");
  });

  test("completion_allows_when_complete", async () => {
    await using setup = await launch([run("echo r > report.md"), "Done."]);
    await using workspace = openWorkspace();
    const { turns } = await evaluate(setup.codex, filing.bind(), { workspace, thread: inWorkspace });
    expect(turns).toHaveLength(1);
  });

  test("completion_no_checker_free_stop", async () => {
    await using setup = await launch(["Done already."]);
    const { turns } = await evaluate(setup.codex, plain.bind());
    expect(turns).toHaveLength(1);
  });

  test("continuations are bounded", async () => {
    await using setup = await launch(() => "Done already.");
    await using workspace = openWorkspace();
    const { turns } = await evaluate(setup.codex, filing.bind(), { workspace, maxContinuations: 2 });
    expect(turns).toHaveLength(3);
  });
});

describe("codex", () => {
  test("native_tool_emits_tool_invoked", async () => {
    await using setup = await launch([
      run("echo hi"),
      patch("*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch"),
      run("exit 3"),
      "Done.",
    ]);
    await using workspace = openWorkspace();
    const session = new Session();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { sandbox: "workspace-write" } });
    expect(session.eventsOf(ToolInvoked).map(({ tool, success }) => `${tool} ${success}`)).toEqual([
      "codex:command true",
      "codex:file_change true",
      "codex:command false",
    ]);
    expect(workspace.readText("new.txt")).toBe("hello\n");
  });

  test("workspace_mounts", async () => {
    await using host = await tempFolder("host");
    mkdirSync(join(host.path, "repo"));
    writeFileSync(join(host.path, "repo", "data.txt"), "from the host\n");
    await using setup = await launch([run("cat data.txt; echo changed > data.txt"), "Done."]);
    await using workspace = openWorkspace({
      mounts: [{ from: join(host.path, "repo") }],
      allowedRoots: [host.path],
    });
    const session = new Session();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { sandbox: "workspace-write" } });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe("from the host\n");
    expect(readFileSync(join(host.path, "repo", "data.txt"), "utf8")).toBe("from the host\n");
  });

  test("workspace_temp_cwd", async () => {
    await using setup = await launch([run("pwd"), "Done."]);
    const session = new Session();
    let root: string;
    {
      await using workspace = openWorkspace();
      ({ root } = workspace);
      await evaluate(setup.codex, plain.bind(), {
        session,
        workspace,
        thread: { sandbox: "workspace-write" },
      });
    }
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe(`${root}\n`);
    expect(existsSync(root)).toBe(false);
  });

  test("workspace_custom_env", async () => {
    await using setup = await launch([run("echo $COLOUR"), "Done."]);
    await using workspace = openWorkspace();
    const session = new Session();
    await evaluate(setup.codex, plain.bind(), { session, workspace, thread: { env: { COLOUR: "blue" } } });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe("blue\n");
  });

  test.for([
    ["network_denied", false],
    ["network_allowed", true],
  ] as const)("%s", async ([, network]) => {
    await using server = await listen();
    const command = `node -e "fetch('http://127.0.0.1:${server.port}').then(() => console.log('reached'), () => console.log('blocked'))"`;
    await using setup = await launch([run(command), "Done."]);
    await using workspace = openWorkspace();
    const session = new Session();
    await evaluate(setup.codex, plain.bind(), {
      session,
      workspace,
      thread: { sandbox: "workspace-write", network },
    });
    expect(session.eventsOf(ToolInvoked)[0]?.text).toBe(network ? "reached\n" : "blocked\n");
  });

  test.for([
    ["sandbox_restricts", "read-only", false],
    ["sandbox_allows", "workspace-write", true],
  ] as const)("%s", async ([, sandbox, isWritten]) => {
    await using setup = await launch([run("echo x > made.txt"), "Done."]);
    await using workspace = openWorkspace();
    await evaluate(setup.codex, plain.bind(), { workspace, thread: { sandbox } });
    expect(workspace.exists("made.txt")).toBe(isWritten);
  });

  test("skill_knowledge", async () => {
    await using host = await tempFolder("skills");
    const path = join(host.path, "greeting");
    mkdirSync(path);
    writeFileSync(join(path, "SKILL.md"), "---\nname: greeting\ndescription: How to greet\n---\nSay ahoy.\n");
    const skilled = definePrompt({
      ns: "ack",
      key: "skilled",
      sections: [{ ...task, skills: [{ name: "greeting", path }] }],
    });
    await using setup = await launch(["Ahoy!"]);
    await evaluate(setup.codex, skilled.bind());
    expect(JSON.stringify(setup.model.requests[0]?.body)).toContain("Say ahoy.");
  });
});

async function listen(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((_request, response) => response.end("ok"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
