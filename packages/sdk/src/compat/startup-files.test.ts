import { tempFolder } from "@codexkit/testing";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type StartupFiles, readStartupFiles } from "./startup-files.ts";

interface Place extends AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  readonly at: () => StartupFiles;
}

async function place(): Promise<Place> {
  const folder = await tempFolder("start-up");
  const home = join(folder.path, ".codex");
  const workspace = join(folder.path, "workspace");
  for (const path of [home, workspace]) await mkdir(path);
  await writeFile(join(home, "config.toml"), 'model = "a"\n\n[features]\nx = true\n');
  const at = (): StartupFiles => readStartupFiles(workspace, { CODEX_HOME: home });
  return { home, workspace, at, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe.skipIf(process.platform === "win32")("what the start of a codex depends on", () => {
  it("changes with the configuration, the credentials and the rules", async () => {
    await using test = await place();
    const seen = new Set([test.at().files]);
    await appendFile(join(test.home, "config.toml"), "y = true\n");
    seen.add(test.at().files);
    await writeFile(join(test.home, "auth.json"), "{}");
    seen.add(test.at().files);
    await mkdir(join(test.home, "rules"));
    await writeFile(join(test.home, "rules/default.rules"), "");
    seen.add(test.at().files);
    expect(seen.size).toBe(4);
  });

  it("does not change when codex trusts another folder", async () => {
    await using test = await place();
    const before = test.at();
    await appendFile(join(test.home, "config.toml"), '\n[projects."/a"]\ntrust_level = "trusted"\n');
    expect(test.at()).toEqual(before);
    await appendFile(join(test.home, "config.toml"), '\n[projects."/b"]\ntrust_level = "trusted"\n');
    expect(test.at()).toEqual(before);
  });

  it("has its own folder for a project with a configuration", async () => {
    await using test = await place();
    expect(test.at().cwd).toBe("/");
    await mkdir(join(test.workspace, ".codex"));
    expect(test.at().cwd).toBe("/");
    await writeFile(join(test.workspace, ".codex/config.toml"), 'model = "a"\n');
    const { cwd, files } = test.at();
    expect(cwd).toBe(test.workspace);
    await writeFile(join(test.workspace, ".codex/config.toml"), 'model = "b"\n');
    expect(test.at().files).not.toBe(files);
    await rm(join(test.workspace, ".codex"), { recursive: true });
    expect(test.at().cwd).toBe("/");
  });

  it("includes the trust level of a project with a configuration", async () => {
    await using test = await place();
    await mkdir(join(test.workspace, ".codex"));
    await writeFile(join(test.workspace, ".codex/config.toml"), 'model = "a"\n');
    const { files } = test.at();
    await appendFile(join(test.home, "config.toml"), '\n[projects."/a"]\ntrust_level = "trusted"\n');
    expect(test.at().files).not.toBe(files);
  });
});
