import { say } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { expect, test } from "vitest";
import { unloadThread } from "./unload-thread.ts";

test("a thread that a fork continues can't be deleted, but is unloaded", async () => {
  await using stage = await launchCodex({ model: () => say("hello") });
  const { codex, workspace } = stage;
  const thread = await codex.startThread({ cwd: workspace });
  await thread.run("go");
  const fork = await thread.fork();
  await expect(codex.deleteThread(thread.id)).rejects.toMatchObject({ code: "request_failed" });
  await unloadThread(codex, thread.id);
  expect((await codex.readThread(thread.id)).status.type).toBe("notLoaded");
  await unloadThread(codex, fork.id);
  await expect(codex.readThread(fork.id)).rejects.toMatchObject({ code: "thread_not_found" });
});

test("a thread that this home never had is no error", async () => {
  await using stage = await launchCodex({ model: () => say("hello") });
  await expect(unloadThread(stage.codex, "01a1f486-4159-71d0-8965-4bdae2463d9f")).resolves.toBeUndefined();
});
