import { say } from "@codexkit/scripted-model";
import { Codex } from "codexkit";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pollUntil } from "../../test/poll-until.ts";
import { startRunner, type TestRunner } from "../../test/start-runner.ts";
import { createRunner } from "./create-runner.ts";

/** Creates a session with a turn, and opens its thread in another program. */
async function openElsewhere(stage: TestRunner) {
  const session = await stage.create();
  await session.send("one");
  await session.ended();
  await stage.runner.close();

  const { codex = {} } = stage.options;
  const holder = await Codex.launch({ ...codex, codexHome: join(stage.stateFolder, "codex") });
  const { thread_id: threadId } = await session.row();
  await holder.resumeThread(threadId ?? "");
  return { session, holder };
}

test("names the program that has a thread open, and uses the thread once it is free", async () => {
  await using stage = await startRunner(({ lastUserText }) => say(lastUserText));
  const { session, holder } = await openElsewhere(stage);
  await using other = holder;

  await using next = createRunner({ ...stage.options, limits: { threadLockMs: 200 } });
  await next.start();
  const refused = await session.send("two");
  expect(refused).toMatchObject({
    ok: false,
    problem: { type: "writer_locked", holder: { pid: other.pid }, remedies: expect.any(Array) as string[] },
  });
  await other.close();
  const sent = await session.send("three");
  expect(await session.ended(sent.ok ? sent["turnId"] : undefined)).toMatchObject({ type: "turn.completed" });
  expect(await session.row()).toMatchObject({ problem: null });
});

test("waits for a thread that another process is about to close", async () => {
  await using stage = await startRunner(({ lastUserText }) => say(lastUserText));
  const { session, holder } = await openElsewhere(stage);
  await using former = holder;

  await using next = createRunner(stage.options);
  await next.start();
  const sent = session.send("two");
  // The daemon has tried to load the thread once its app-server is running.
  await pollUntil(() => next.status.appServers[0]?.state === "ready");
  await former.close();
  expect(await sent).toMatchObject({ ok: true });
});
