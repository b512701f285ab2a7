// The compliance scenarios that every typed-prompt adapter must pass, under their usual names, on the real codex with a scripted
// model: transactions, errors and guardrails.
import { callTool, run } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { describe, expect, test } from "vitest";
import { callNote, launch, note, notes, noting, plain, task } from "./noting-prompt.ts";
import {
  customPolicy,
  Deadline,
  definePrompt,
  evaluate,
  filesExist,
  openBundle,
  openWorkspace,
  PromptSession,
  staticFeedback,
  ToolInvoked,
} from "../src/index.ts";

describe("transactions", () => {
  test("failure_rolls_back_filesystem", async () => {
    await using setup = await launch([callNote("bad"), "Done."]);
    await using workspace = openWorkspace();
    await evaluate(setup.codex, noting.bind(), { workspace });
    expect(workspace.exists("bad.txt")).toBe(false);
  });

  test("failure_rolls_back_session_state", async () => {
    await using setup = await launch([callNote("bad"), "Done."]);
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session });
    expect(session.get(notes)).toEqual([]);
    expect(session.eventsOf(ToolInvoked)).toHaveLength(1);
  });

  test("sequential_isolation", async () => {
    await using setup = await launch([callNote("one"), callNote("bad"), callNote("two"), "Done."]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
    await evaluate(setup.codex, noting.bind(), { session, workspace });
    expect(session.get(notes)).toEqual(["one", "two"]);
    expect(["one.txt", "bad.txt", "two.txt"].map((name) => workspace.exists(name))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("calls in one response are isolated too", async () => {
    await using setup = await launch([[callNote("one"), callNote("bad"), callNote("two")], "Done."]);
    await using workspace = openWorkspace();
    const session = new PromptSession();
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

  test("a deadline that has passed is rejected before anything is sent", async () => {
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
    const session = new PromptSession();
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
    const session = new PromptSession();
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
