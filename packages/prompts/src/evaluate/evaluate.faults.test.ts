// Aborted evaluations, and evaluations whose codex dies or freezes.
import { gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { definePrompt, evaluate, openWorkspace, PromptEvaluationError } from "../index.ts";

/** Short limits for the steps before a frozen codex is killed. */
const processLimits = { exitTimeoutMs: 200, terminateTimeoutMs: 200 };

const launch = (model: Script) =>
  launchCodex({ model, modelName: "gpt-5.5", modelRetries: 0, processLimits });

const prompt = definePrompt({
  ns: "test",
  key: "faults",
  sections: [{ key: "task", title: "Task", render: "Do it." }],
}).bind();

test("an aborted evaluation interrupts its turn and keeps the partial result", async () => {
  const open = gate();
  await using setup = await launch([[run("echo hi > a.txt")], say(["Almost", waitFor(open)])]);
  await using workspace = openWorkspace();
  const abort = new AbortController();
  const evaluation = evaluate(setup.codex, prompt, {
    workspace,
    signal: abort.signal,
    thread: { sandbox: "workspace-write" },
  });
  await setup.model.waitForRequests(2);
  abort.abort(new Error("enough"));

  const error = await evaluation.result().catch((thrown: unknown) => thrown);
  open.open();

  expect(error).toBeInstanceOf(PromptEvaluationError);
  expect(error).toMatchObject({ code: "aborted", partial: { threadId: expect.any(String) as string } });
  expect(workspace.readText("a.txt")).toBe("hi\n");
});

test("a codex that dies causes a request error with the SDK's error as its cause", async () => {
  const open = gate();
  await using setup = await launch([say(["Almost", waitFor(open)])]);
  const evaluation = evaluate(setup.codex, prompt, { thread: { cwd: setup.workspace } });
  await setup.model.waitForRequests(1);
  process.kill(setup.codex.pid ?? 0, "SIGKILL");

  await expect(evaluation.result()).rejects.toMatchObject({
    phase: "request",
    cause: { code: "app_server_crashed" },
  });
  open.open();
});

test("an evaluation ends when aborted while a frozen codex opens its thread", async () => {
  await using setup = await launch(["Done."]);
  const pid = setup.codex.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  const abort = new AbortController();
  const evaluation = evaluate(setup.codex, prompt, {
    signal: abort.signal,
    thread: { cwd: setup.workspace },
  });
  abort.abort();
  await expect(evaluation.result()).rejects.toMatchObject({ code: "aborted" });
  process.kill(pid, "SIGCONT");
});

test("an evaluation ends when aborted while a frozen codex receives its skills", async () => {
  await using setup = await launch(["Done."]);
  const skill = join(setup.workspace, "skills", "greeting");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: greeting\ndescription: Greets.\n---\n");
  const greeting = definePrompt({
    ns: "test",
    key: "skills",
    sections: [{ key: "task", title: "Task", render: "Do it.", skills: [{ name: "greeting", path: skill }] }],
  }).bind();
  const pid = setup.codex.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  const abort = new AbortController();
  const evaluation = evaluate(setup.codex, greeting, { signal: abort.signal });
  abort.abort();
  await expect(evaluation.result()).rejects.toMatchObject({ code: "aborted" });
  process.kill(pid, "SIGCONT");
});

test("a frozen codex does not prevent an evaluation from ending", async () => {
  const open = gate();
  await using setup = await launch([[say(["Almost", waitFor(open)])], "Done."]);
  const abort = new AbortController();
  const evaluation = evaluate(setup.codex, prompt, {
    signal: abort.signal,
    thread: { cwd: setup.workspace },
  });
  await setup.model.waitForRequests(1);
  const pid = setup.codex.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  abort.abort();

  await expect(evaluation.result()).rejects.toMatchObject({ code: "aborted" });
  open.open();
  // Nothing else was running on the codex, so it was ended, and the next evaluation runs on another one.
  await expect(
    evaluate(setup.codex, prompt, { thread: { cwd: setup.workspace } }).result(),
  ).resolves.toMatchObject({
    text: "Done.",
  });
  expect(setup.codex.pid).not.toBe(pid);
});

test("codex is restarted only when nothing else runs on it", async () => {
  const open = gate();
  await using setup = await launch([say(["Almost", waitFor(open)])]);
  const running = evaluate(setup.codex, prompt, { thread: { cwd: setup.workspace } });
  await setup.model.waitForRequests(1);
  const { pid } = setup.codex;

  expect(await setup.codex.restartIfIdle({ except: ["another thread"] })).toBe(false);
  open.open();
  await running;
  expect(setup.codex.pid).toBe(pid);
  expect(await setup.codex.restartIfIdle()).toBe(true);
  expect(setup.codex.pid).not.toBe(pid);
});
