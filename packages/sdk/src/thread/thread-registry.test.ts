import { run, say } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { expect, it } from "vitest";

it("keeps the handlers and events of a resumed thread if a concurrent resume of it is aborted", async () => {
  await using stage = await launchCodex({
    model: ({ newOutputs, lastUserText }) =>
      lastUserText === "ask" && newOutputs.length === 0
        ? run("echo yes", { escalate: "please" })
        : say("done"),
  });
  const options = { cwd: stage.workspace, approvalPolicy: "on-request", sandbox: "workspace-write" } as const;
  const stored = await stage.codex.startThread(options);
  await stored.run("hi");
  await stored.close();

  const controller = new AbortController();
  const { signal } = controller;
  const first = stage.codex.resumeThread(
    stored.id,
    { handlers: { commandApproval: () => "decline" } },
    { signal },
  );
  const second = stage.codex.resumeThread(stored.id, { handlers: { commandApproval: () => "accept" } });
  controller.abort();
  await expect(first).rejects.toMatchObject({ code: "aborted" });
  const { items } = await (await second).run("ask");
  expect(items).toContainEqual(expect.objectContaining({ type: "commandExecution", status: "completed" }));
});

it("resumes a thread while the server unloads it", async () => {
  await using stage = await launchCodex({ model: () => say("done") });
  const config = { thread_unload_delay_secs: 0 };
  for (let round = 0; round < 20; round += 1) {
    const thread = await stage.codex.startThread({ cwd: stage.workspace, config });
    await thread.run("hi");
    await thread.close();
    const resumed = await stage.codex.resumeThread(thread.id, { config });
    await expect(resumed.run("again")).resolves.toMatchObject({ status: "completed" });
    await resumed.close();
  }
});
