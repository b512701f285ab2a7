// The error messages for a broken setup.
import { fail, say } from "@codexkit/scripted-model";
import { codexFolders, launchCodex, tempFolder } from "@codexkit/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z as z3 } from "zod/v3";
import { Codex } from "../src/codex.ts";
import { defineTool } from "../src/tools/define-tool.ts";
import { outputSchema } from "../src/schema/output-schema.ts";

function saying(...words: string[]): string {
  return expect.stringMatching(
    new RegExp(words.map((word) => word.replaceAll(/[.$()[\]]/g, String.raw`\$&`)).join("[^]*")),
  ) as string;
}

describe("an error", () => {
  it("names the codexPath option if the binary does not exist", async () => {
    await expect(Codex.launch({ codexPath: "/nowhere/codex" })).rejects.toMatchObject({
      code: "codex_not_found",
      message: saying("codexPath option", "/nowhere/codex"),
    });
  });

  it("names the path of a binary that never answers, and what it printed", async () => {
    await using folder = await tempFolder();
    const codexPath = join(folder.path, "mute");
    await writeFile(codexPath, "#!/bin/sh\necho waiting for Godot >&2\ncat > /dev/null\n", { mode: 0o755 });
    const launched = Codex.launch({ codexPath, handshakeTimeoutMs: 1_000 });
    await expect(launched).rejects.toMatchObject({
      code: "codex_start_failed",
      message: saying(codexPath, "(from codexPath)", "does not respond", "waiting for Godot"),
    });
  });

  it("has a dedicated code for a broken config.toml, at the start and later", async () => {
    await using folders = await codexFolders({ model: () => say("hello") });
    const file = join(folders.codexHome, "config.toml");
    await writeFile(file, 'model = "x"\napproval_policy = "nonsense"\n');
    const options = { inheritEnv: false, env: folders.env };
    const invalid = { code: "invalid_config", message: saying(`${file}:2:19`, "nonsense") };
    await expect(Codex.launch({ ...options, strictConfig: true })).rejects.toMatchObject(invalid);
    await using codex = await Codex.launch(options);
    await expect(codex.startThread({ cwd: folders.workspace })).rejects.toMatchObject(invalid);
  });

  it("says how to log in when the model refuses the credentials", async () => {
    await using stage = await launchCodex({ model: () => [fail.http(401)], modelRetries: 0 });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    await expect(thread.run("x")).rejects.toMatchObject({
      code: "turn_failed",
      httpStatus: 401,
      message: saying("401", "codex login", "loginWithApiKey"),
    });
  });

  it("says that zod 4 is required for a schema of zod 3", () => {
    const schema = z3.object({ a: z3.string() }) as never;
    expect(() => outputSchema(schema)).toThrow("zod 4 is required");
    const tool = { name: "a", description: "b", input: schema, execute: () => "" };
    expect(() => defineTool(tool)).toThrow("zod 4 is required");
  });
});

describe("four launches at once on an empty CODEX_HOME", () => {
  it.each(["stdio", "unix"] as const)("all succeed on %s", async (kind) => {
    // Codex loses the race for its databases in about every second round.
    for (let round = 0; round < 3; round += 1) {
      await using folders = await codexFolders({ model: () => say("hello") });
      const launches = Array.from({ length: 4 }, async (_, number) => {
        const listen = kind === "unix" ? `unix://${join(folders.root, `${number}.sock`)}` : "stdio://";
        await using codex = await Codex.launch({ inheritEnv: false, env: folders.env, listen });
        const thread = await codex.startThread({ cwd: folders.workspace, sandbox: "read-only" });
        return (await thread.run("x")).finalResponse;
      });
      expect(await Promise.all(launches)).toEqual(["hello", "hello", "hello", "hello"]);
    }
  });
});
