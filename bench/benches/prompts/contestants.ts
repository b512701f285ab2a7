import { definePrompt, definePromptTool, evaluate, openWorkspace, type Workspace } from "@codexkit/prompts";
import { defineTool } from "codexkit";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { GitSnapshots, type PromptsContext } from "./setup.ts";

const TURNS = 20;
const CALLS = 10;
const AT_ONCE = 8;

const plain = definePrompt({
  ns: "bench",
  key: "plain",
  sections: [{ key: "task", title: "Task", render: "Answer." }],
}).bind();

const input = z.strictObject({ name: z.string() });

const calling = definePrompt({
  ns: "bench",
  key: "calling",
  sections: [{ key: "task", title: "Task", render: "Use the tool." }],
  tools: [
    definePromptTool({
      name: "touch",
      description: "Writes a file",
      input,
      handler: ({ name }, { workspace }) => {
        workspace?.writeText(name, String(performance.now()));
        return "written";
      },
    }),
  ],
}).bind();

/** Milliseconds per repetition. */
async function average(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) await work();
  return (performance.now() - startedAt) / count;
}

const ephemeral = { ephemeral: true, sandbox: "workspace-write" } as const;

export function evaluatePlain({ codex, folder }: PromptsContext): Promise<number> {
  return average(TURNS, () => evaluate(codex, plain, { thread: { ...ephemeral, cwd: folder } }).result());
}

/** The same turn through the SDK, also on its own thread. */
export function runPlain({ codex, folder }: PromptsContext): Promise<number> {
  return average(TURNS, async () => {
    await using thread = await codex.startThread({ ...ephemeral, cwd: folder, approvalPolicy: "never" });
    await thread.run("## 1. Task\n\nAnswer.");
  });
}

export async function evaluateAtOnce(context: PromptsContext): Promise<number> {
  const startedAt = performance.now();
  const options = { thread: { ...ephemeral, cwd: context.folder } };
  await Promise.all(Array.from({ length: AT_ONCE }, () => evaluate(context.codex, plain, options).result()));
  return performance.now() - startedAt;
}

export async function runAtOnce({ codex, folder }: PromptsContext): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      await using thread = await codex.startThread({ ...ephemeral, cwd: folder, approvalPolicy: "never" });
      await thread.run("## 1. Task\n\nAnswer.");
    }),
  );
  return performance.now() - startedAt;
}

/** Turns with one bridged tool call in a transaction. The first snapshot of the workspace is not measured. */
export async function callInTransaction(context: PromptsContext, folder: string): Promise<number> {
  await using workspace = openWorkspace({ folder, stateRoot: join(context.folder, "..", "state") });
  await workspace.snapshot();
  return await average(CALLS, () => evaluateCall(context, workspace));
}

async function evaluateCall({ codex }: PromptsContext, workspace: Workspace): Promise<void> {
  await evaluate(codex, calling, { workspace, thread: ephemeral });
}

/** The same turns with a plain tool of the SDK. */
export async function callPlainTool({ codex }: PromptsContext, folder: string): Promise<number> {
  const tool = defineTool({
    name: "touch",
    description: "Writes a file",
    input,
    execute: ({ name }) => {
      writeFileSync(join(folder, name), String(performance.now()));
      return "written";
    },
  });
  return average(CALLS, async () => {
    await using thread = await codex.startThread({
      ...ephemeral,
      cwd: folder,
      approvalPolicy: "never",
      tools: [tool],
    });
    await thread.run("Use the tool.");
  });
}

/** A transaction alone: snapshot, one change, rollback. */
export async function rollBack(context: PromptsContext, folder: string): Promise<number> {
  await using workspace = openWorkspace({ folder, stateRoot: join(context.folder, "..", "state") });
  await workspace.snapshot();
  return await average(CALLS, async () => {
    await workspace.transact(async (transaction) => {
      workspace.writeText("made.txt", String(performance.now()));
      await transaction.rollback();
    });
  });
}

export async function rollBackWithGit(folder: string): Promise<number> {
  using git = new GitSnapshots(folder);
  git.take();
  return await average(CALLS, async () => {
    const before = git.take();
    writeFileSync(join(folder, "made.txt"), String(performance.now()));
    git.take();
    git.restore(before);
    rmSync(join(folder, "made.txt"), { force: true });
  });
}
