import { say } from "@codexkit/scripted-model";
import { codexFolders, tempFolder } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { launchCodex } from "./launch-codex.ts";

describe("launchCodex", () => {
  it("returns a Codex that runs turns, and launches another codex after a crash", async () => {
    await using folders = await codexFolders({ model: () => say("hello") });
    const spawned: (number | undefined)[] = [];
    await using codex = await launchCodex({
      inheritEnv: false,
      env: folders.env,
      onSpawn: ({ pid }) => spawned.push(pid),
    });
    const thread = await codex.startThread({ cwd: folders.workspace });
    await expect(thread.run("hi")).resolves.toMatchObject({ finalResponse: "hello" });
    const first = codex.pid;
    process.kill(first ?? 0, "SIGKILL");
    await expect.poll(() => codex.pid).toBeUndefined();
    await codex.startThread({ cwd: folders.workspace });
    expect(spawned).toEqual([first, codex.pid]);
  });

  it("spawns codex before the rest of the SDK is loaded, and loads no zod", async () => {
    await using folders = await codexFolders({ model: [] });
    const program = `
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      const { launchCodex } = await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, "launch-codex.ts")))});
      let atSpawn;
      const env = ${JSON.stringify(folders.env)};
      await using codex = await launchCodex({ inheritEnv: false, env, onSpawn: () => { atSpawn = loaded.length; } });
      const whenLoaded = (name) => {
        const index = loaded.findIndex((url) => url.includes(name));
        return index === -1 ? "never" : index < atSpawn ? "before" : "after";
      };
      console.log(JSON.stringify({ codex: whenLoaded("/src/codex.ts"), zod: whenLoaded("/node_modules/zod/") }));`;
    // A separate folder: manifests left behind by other programs would be read with zod.
    const env = { ...process.env, TMPDIR: folders.root };
    const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(JSON.parse(stdout)).toEqual({ codex: "after", zod: "never" });
  });

  it("rejects an unknown option before anything starts", async () => {
    await using folder = await tempFolder();
    const ownersFolder = join(folder.path, "owners");
    await expect(launchCodex({ ownersFolder, sandboxMode: "read-only" } as never)).rejects.toMatchObject({
      code: "invalid_argument",
    });
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("rejects with the reason when codex can't be started", async () => {
    await expect(launchCodex({ codexPath: "/nowhere/codex" })).rejects.toMatchObject({
      code: "codex_not_found",
    });
  });

  it("leaves no process behind when it is aborted while codex starts", async () => {
    await using folders = await codexFolders({ model: [] });
    const abort = new AbortController();
    const exited = Promise.withResolvers<void>();
    const launching = launchCodex({
      inheritEnv: false,
      env: folders.env,
      signal: abort.signal,
      onSpawn: (child) => {
        child.once("exit", () => exited.resolve());
        abort.abort(new Error("enough"));
      },
    });
    await expect(launching).rejects.toMatchObject({ code: "aborted" });
    await exited.promise;
  });
});
