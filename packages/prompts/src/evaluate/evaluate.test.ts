// Prompts on the real codex with a scripted model.
import { callTool, fail, run, say, type Script, usage } from "@codexkit/scripted-model";
import { launchCodex, tempFolder } from "@codexkit/testing";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Budget,
  type CompletionChecker,
  Deadline,
  definePrompt,
  definePromptTool,
  defineSlice,
  evaluate,
  openWorkspace,
  PromptEvaluationError,
  PromptExecuted,
  PromptRendered,
  RenderedTools,
  PromptSession,
  ToolFailure,
  ToolInvoked,
} from "../index.ts";

const launch = (model: Script) => launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0 });

const greet = definePrompt({
  ns: "test",
  key: "greet",
  params: z.object({ name: z.string() }),
  sections: [{ key: "task", title: "Task", render: ({ name }) => `Greet ${name}.` }],
});

describe("basic", () => {
  test("returns a text response", async () => {
    await using setup = await launch(["Hello, Ada!"]);
    const { text, output } = await evaluate(setup.codex, greet.bind({ name: "Ada" }));

    expect(text).toBe("Hello, Ada!");
    expect(output).toBeUndefined();
    expect(setup.model.requests[0]?.lastUserText).toBe("## 1. Task\n\nGreet Ada.");
  });

  test("emits the events of an evaluation in order, under the prompt's name", async () => {
    await using setup = await launch(["Hello!"]);
    const session = new PromptSession();
    await evaluate(setup.codex, greet.bind({ name: "Ada" }), { session });

    expect(session.eventsOf(PromptRendered)).toMatchObject([
      { prompt: "test/greet", text: "## 1. Task\n\nGreet Ada." },
    ]);
    expect(session.eventsOf(RenderedTools)).toMatchObject([{ prompt: "test/greet", tools: [] }]);
    expect(session.eventsOf(PromptExecuted)).toMatchObject([
      { prompt: "test/greet", status: "completed", turns: 1 },
    ]);
  });

  test("parses structured output, lists included", async () => {
    await using setup = await launch([`{"items":[{"file":"a.ts","line":3}]}`]);
    const review = definePrompt({
      ns: "test",
      key: "review",
      output: z.array(z.object({ file: z.string(), line: z.int() })),
      sections: [{ key: "task", title: "Task", render: "Review." }],
    });

    const { output } = await evaluate(setup.codex, review.bind());

    expect(output).toEqual([{ file: "a.ts", line: 3 }]);
  });
});

describe("tools", () => {
  const notes = defineSlice({ name: "notes", schema: z.array(z.string()), initial: [] as string[] });
  const note = definePromptTool({
    name: "note",
    description: "Stores a note",
    input: z.strictObject({ text: z.string() }),
    handler: ({ text }, { session, workspace }) => {
      session.update(notes, (all) => [...all, text]);
      workspace?.writeText("note.txt", text);
      if (text === "bad") throw new ToolFailure("This note is not allowed.");
      return `stored ${text}`;
    },
  });
  const noting = definePrompt({
    ns: "test",
    key: "noting",
    sections: [{ key: "task", title: "Task", render: "Take notes." }],
    tools: [note],
  });

  test("a tool is called with its arguments, and the model gets its result", async () => {
    await using setup = await launch([callTool("note", { text: "one" }, { callId: "c1" }), "Done."]);
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session });

    expect(session.get(notes)).toEqual(["one"]);
    expect(session.eventsOf(ToolInvoked)).toMatchObject([
      { tool: "note", success: true, text: "stored one" },
    ]);
    expect(JSON.stringify(setup.model.requests[1]?.body)).toContain("stored one");
  });

  test("a failure rolls back the session and files, is reported to the model and does not end the evaluation", async () => {
    await using setup = await launch([
      callTool("note", { text: "one" }, { callId: "c1" }),
      callTool("note", { text: "bad" }, { callId: "c2" }),
      "Done.",
    ]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    const { text } = await evaluate(setup.codex, noting.bind(), { session, workspace });

    expect(text).toBe("Done.");
    expect(session.get(notes)).toEqual(["one"]);
    expect(workspace.readText("note.txt")).toBe("one");
    expect(session.eventsOf(ToolInvoked).map(({ success }) => success)).toEqual([true, false]);
    expect(JSON.stringify(setup.model.requests[2]?.body)).toContain("This note is not allowed.");
  });

  test("invalid arguments are reported to the model and change nothing", async () => {
    await using setup = await launch([callTool("note", { wrong: 1 }, { callId: "c1" }), "Done."]);
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session });

    expect(session.get(notes)).toEqual([]);
    expect(session.eventsOf(ToolInvoked)).toMatchObject([{ success: false }]);
    expect(session.eventsOf(ToolInvoked)[0]?.text).toContain("The arguments of note are invalid");
  });

  test("Codex's own commands are reported as tool calls", async () => {
    await using setup = await launch([run("echo hi"), "Done."]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), {
      session,
      workspace,
      thread: { sandbox: "workspace-write" },
    });

    expect(session.eventsOf(ToolInvoked)).toMatchObject([
      { tool: "codex:command", success: true, text: "hi\n" },
    ]);
  });
});

describe("disclosure", () => {
  const secret = definePromptTool({
    name: "open_safe",
    description: "Opens the safe",
    input: z.strictObject({}),
    handler: () => "gold",
  });
  const guided = definePrompt({
    ns: "test",
    key: "guided",
    sections: [
      { key: "task", title: "Task", render: "Do it." },
      {
        key: "guide",
        title: "Guide",
        render: "The long guide.",
        summary: "A guide.",
        visibility: "summary",
        tools: [secret],
        children: [{ key: "details", title: "Details", render: "The details." }],
      },
    ],
  });

  test("an expansion ends the turn and continues in the same thread with the section opened", async () => {
    await using setup = await launch([
      callTool("open_safe", {}, { callId: "c1" }),
      callTool("open_sections", { keys: ["guide"], reason: "need it" }, { callId: "c2" }),
      callTool("open_safe", {}, { callId: "c3" }),
      "Done.",
    ]);
    const session = new PromptSession();
    const { text, turns } = await evaluate(setup.codex, guided.bind(), { session });

    expect(text).toBe("Done.");
    expect(turns).toHaveLength(2);
    expect(setup.model.requests[2]?.lastUserText).toContain("The long guide.\n\n### 2.1. Details");
    expect(new Set(turns.map(({ threadId }) => threadId)).size).toBe(1);
    expect(session.eventsOf(ToolInvoked).map(({ tool, success }) => [tool, success])).toEqual([
      ["open_safe", false],
      ["open_sections", true],
      ["open_safe", true],
    ]);
  });

  test("a section without tools is read without ending the turn", async () => {
    const readable = definePrompt({
      ns: "test",
      key: "readable",
      sections: [
        {
          key: "guide",
          title: "Guide",
          render: "The long guide.",
          summary: "A guide.",
          visibility: "summary",
        },
      ],
    });
    await using setup = await launch([callTool("read_section", { key: "guide" }, { callId: "c1" }), "Done."]);
    const { turns } = await evaluate(setup.codex, readable.bind());

    expect(turns).toHaveLength(1);
    expect(JSON.stringify(setup.model.requests[1]?.body)).toContain("The long guide.");
  });
});

describe("limits", () => {
  test("a turn that exceeds its budget is interrupted on the usage update, and nothing more is executed", async () => {
    const calls: string[] = [];
    const work = definePromptTool({
      name: "work",
      description: "Works",
      input: z.strictObject({ step: z.string() }),
      handler: ({ step }) => {
        calls.push(step);
        return step;
      },
    });
    const working = definePrompt({
      ns: "test",
      key: "working",
      sections: [{ key: "task", title: "Task", render: "Work." }],
      tools: [work],
    });
    await using setup = await launch((request) => [
      callTool("work", { step: `${request.index}` }, { callId: `c${request.index}` }),
      usage({ input: 600, output: 10 }),
    ]);
    const budget = new Budget({ totalTokens: 1_000 });

    const error = await evaluate(setup.codex, working.bind(), { budget })
      .result()
      .catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ code: "budget_exceeded", phase: "budget" });
    expect((error as Error).message).toContain("totalTokens");
    expect(setup.model.requests.length).toBeLessThanOrEqual(3);
    expect(calls.length).toBeLessThanOrEqual(2);
  });

  test("a failed evaluation restores Codex's own edits if requested", async () => {
    await using setup = await launch([
      [run("echo changed > a.txt; echo new > b.txt"), usage({ input: 600, output: 10 })],
      [run("echo again > a.txt"), usage({ input: 600, output: 10 })],
      "Done.",
    ]);
    await using workspace = openWorkspace();
    writeFileSync(join(workspace.root, "a.txt"), "before\n");

    const evaluation = evaluate(setup.codex, greet.bind({ name: "Ada" }), {
      workspace,
      budget: new Budget({ totalTokens: 1_000 }),
      onFailure: "restore",
      thread: { sandbox: "workspace-write" },
    });

    await expect(evaluation.result()).rejects.toMatchObject({ code: "budget_exceeded" });
    expect(workspace.readText("a.txt")).toBe("before\n");
    expect(workspace.exists("b.txt")).toBe(false);
  });
});

describe("completion", () => {
  const withCompletion = (completion: CompletionChecker) =>
    definePrompt({
      ns: "test",
      key: "completion",
      sections: [{ key: "task", title: "Task", render: "Do it." }],
      completion,
    }).bind();

  test("a checker that never ends does not delay the deadline", async () => {
    await using setup = await launch(["Done."]);
    let now = 0;
    const checking = withCompletion({
      check: () => {
        now = 1_000;
        return new Promise(() => {});
      },
    });
    const deadline = Deadline.in(500, () => now);
    await expect(evaluate(setup.codex, checking, { deadline }).result()).rejects.toMatchObject({
      code: "deadline_exceeded",
      partial: { text: "Done." },
    });
  });

  test("a result that is still not complete is marked as such", async () => {
    await using setup = await launch(["One.", "Two."]);
    const never = withCompletion({ check: () => ({ complete: false, feedback: "Go on." }) });
    const evaluation = evaluate(setup.codex, never, { maxContinuations: 1 });
    const warnings = (await Array.fromAsync(evaluation)).filter(({ type }) => type === "warning");

    expect(await evaluation).toMatchObject({ text: "Two.", isComplete: false });
    expect(warnings).toMatchObject([{ message: expect.stringContaining("Go on.") as string }]);
  });
});

describe("failures", () => {
  test("a failed turn and its text are part of the partial result", async () => {
    await using setup = await launch([[say("Half of it."), fail.incomplete()]]);
    await expect(evaluate(setup.codex, greet.bind({ name: "Ada" })).result()).rejects.toMatchObject({
      partial: { text: "Half of it.", turns: [{ status: "failed" }] },
    });
  });

  test("a workspace that can't be restored does not hide why the evaluation failed", async () => {
    await using setup = await launch([fail.http(400)]);
    await using temporary = await tempFolder("moved");
    const folder = join(temporary.path, "work");
    mkdirSync(folder);
    await using workspace = openWorkspace({ folder, stateRoot: join(temporary.path, "state") });
    const evaluation = evaluate(setup.codex, greet.bind({ name: "Ada" }), {
      workspace,
      onFailure: "restore",
      thread: { cwd: setup.workspace },
      transcript: ({ type }) => {
        if (type === "user_message") renameSync(folder, `${folder}-moved`);
      },
    });
    const outcome = evaluation.result().catch((error: unknown) => error);
    const warnings = (await Array.fromAsync(evaluation)).filter(({ type }) => type === "warning");

    expect(await outcome).toMatchObject({ name: "PromptEvaluationError", code: "evaluation_failed" });
    expect(warnings).toMatchObject([{ message: "The workspace could not be restored." }]);
  });
});
