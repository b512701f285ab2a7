import { run, say } from "@codexkit/scripted-model";
import { findCodex, tempFolder } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startRunner } from "../../test/start-runner.ts";
import { createRunner } from "./create-runner.ts";

test("commands of a session with an environment run on its exec-server, also after codex was replaced", async () => {
  await using remote = await tempFolder("remote");
  await using stage = await startRunner(
    ({ newOutputs }) => (newOutputs.length > 0 ? say("end") : run("echo $FAR > made")),
    { limits: { retryMs: 50 } },
  );
  const server = spawn(findCodex({}).path, ["exec-server", "--listen", "ws://127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, ...stage.options.codex?.env, FAR: "from afar" },
  });
  try {
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    const url = line.toString().trim();
    const session = await stage.create({ cwd: remote.path, environment: { url }, permissionMode: "bypass" });
    await session.send("go");
    await session.ended();
    expect(await readFile(join(remote.path, "made"), "utf8")).toBe("from afar\n");

    await rm(join(remote.path, "made"));
    process.kill(stage.runner.status.appServers[0]?.pid ?? 0, "SIGKILL");
    const second = await session.send("again");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(existsSync(join(remote.path, "made"))).toBe(true);
  } finally {
    server.kill("SIGKILL");
  }
});

test("a session accepts messages after Codex failed to create the file of its thread", async () => {
  await using stage = await startRunner(({ lastUserText }) => say(lastUserText));
  const session = await stage.create();
  await session.event((event) => event.type === "command.finished");
  const lost = (await session.row()).thread_id ?? "";
  await stage.runner.close();
  const folder = join(stage.stateFolder, "codex", "sessions", "2026", "01", "02");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `rollout-2026-01-02T03-04-05-${lost}.jsonl`), "");
  await using next = createRunner(stage.options);
  await next.start();
  expect(await session.send("hello")).toMatchObject({ ok: true });
  expect(await session.ended()).toMatchObject({ type: "turn.completed" });
  expect((await session.row()).thread_id).not.toBe(lost);
});

test("a removed working folder is reported, and does not affect other sessions", async () => {
  await using gone = await tempFolder("gone");
  await using stage = await startRunner(({ lastUserText }) => say(lastUserText));
  const session = await stage.create({ cwd: gone.path });
  const other = await stage.create();
  await session.send("one");
  await session.ended();
  await stage.runner.close();
  await rm(gone.path, { recursive: true });
  await using next = createRunner(stage.options);
  await next.start();
  expect(await session.send("two")).toMatchObject({
    problem: { type: "unprocessable", detail: expect.stringContaining("no longer exists") as string },
  });
  expect(await other.send("three")).toMatchObject({ ok: true });
});
