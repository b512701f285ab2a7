import { DaemonClient } from "@codexkit/daemon/client";
import { run, say } from "@codexkit/scripted-model";
import { codexFolders, createCodexHome } from "@codexkit/testing";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { runCli, startCli } from "./cli-process.ts";

test("an approval that waits while `codexkit serve` is restarted is listed and approved afterwards", async () => {
  await using folders = await codexFolders({
    model: (request) =>
      request.commandResult("call")
        ? say("Done.")
        : run("touch approved", { callId: "call", escalate: "why" }),
  });
  const { workspace, env } = folders;
  const store = join(folders.root, "store");
  await createCodexHome(join(store, "codex"), folders);
  const cli = async (...args: string[]) => runCli(args, { cwd: workspace, env });
  await using stack = new AsyncDisposableStack();
  const serve = async () => {
    const child = startCli(["serve", "--json", "--listen", ":0", "--store", store], { cwd: workspace, env });
    const closed = once(child, "close");
    child.stderr.resume();
    stack.defer(async () => {
      child.kill("SIGKILL");
      await closed;
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
    const token = (await readFile(tokenFile, "utf8")).trim();
    const end = async (): Promise<number | null> => {
      child.kill("SIGTERM");
      await closed;
      return child.exitCode;
    };
    return { client: new DaemonClient({ url, token }), end };
  };

  const first = await serve();
  const { session } = await first.client.createSession(
    { cwd: workspace, permissionMode: "read-only" },
    { wait: 20_000 },
  );
  await first.client.send(session.id, "go");
  let id = "";
  for await (const event of first.client.sessionEvents(session.id)) {
    if (event.type !== "inbox.opened") continue;
    id = event.approvalId;
    break;
  }
  expect(await first.end()).toBe(0);
  expect(existsSync(join(workspace, "approved"))).toBe(false);

  const second = await serve();
  expect((await cli("inbox")).stdout).toMatch(new RegExp(`^${id} +parked +command .*touch approved`, "m"));
  expect(await cli("inbox", "approve", id)).toEqual({
    exitCode: 0,
    stdout: `Approved ${id}: touch approved\n`,
    stderr: "",
  });
  for await (const event of second.client.sessionEvents(session.id)) {
    if (event.type === "turn.completed") break;
  }
  expect(existsSync(join(workspace, "approved"))).toBe(true);
  expect(await second.end()).toBe(0);
}, 120_000);
