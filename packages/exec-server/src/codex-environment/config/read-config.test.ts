import { tempFolder } from "@codexkit/testing";
import { join } from "node:path";
import { expect, test } from "vitest";
import { meaning, putFiles } from "../../../test/config-files.ts";
import { readConfig } from "./read-config.ts";

test("the machine's own files are the lowest layer, the managed file and the requirements", async () => {
  await using folder = await tempFolder("config-system");
  const system = join(folder.path, "etc");
  await putFiles(system, {
    "config.toml": "a = 0\n",
    "requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n',
    "managed_config.toml": 'a = 9\napproval_policy = "never"\nsandbox_mode = "workspace-write"\n',
  });
  const keys = ["allowed_sandbox_modes", "allowed_approval_policies"].map((key) => [key]);
  const cwd = `file://${folder.path}`;
  const { config, requirements } = await readConfig(
    { cwd, configPaths: [["a"]], requirementsPaths: keys },
    system,
  );
  const baseDir = `file://${system}`;
  expect(config.layers.filter((layer) => layer.baseDir === baseDir)).toEqual([
    { source: `system (${system}/config.toml)`, baseDir, toml: "a = 0\n" },
    { source: `legacy managed_config.toml (${system}/managed_config.toml)`, baseDir, toml: "a = 9\n" },
  ]);
  expect(config.cloudInsertionIndex).toBe(1);
  expect(meaning(requirements)).toEqual({
    layers: [
      { source: `${system}/requirements.toml`, baseDir, toml: { allowed_sandbox_modes: ["read-only"] } },
      {
        source: `${system}/managed_config.toml`,
        baseDir,
        toml: {
          allowed_approval_policies: ["never"],
          allowed_sandbox_modes: ["read-only", "workspace-write"],
        },
      },
    ],
    cloudInsertionIndex: 1,
  });
});

test("a broken file is named by place, without its text", async () => {
  await using folder = await tempFolder("config-broken");
  await putFiles(folder.path, { "config.toml": 'token = "secret\n' });
  const params = { cwd: "file:///", configPaths: [["a"]], requirementsPaths: [] };
  const failure: unknown = await readConfig(params, folder.path).catch((error: unknown) => error);
  expect(failure).toMatchObject({ rpcCode: -32603, message: expect.stringContaining("config.toml:1:") });
  expect(String(failure)).not.toContain("secret");
});
