import { type TempFolder, tempFolder } from "@codexkit/testing";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FinishedCli, runCli } from "./cli-process.ts";

let folder: TempFolder;
beforeAll(async () => {
  folder = await tempFolder("policy");
  await writeFile(
    join(folder.path, "policy.json"),
    JSON.stringify({ deny: [{ kind: "prefix", argv: ["npm", "publish"], justification: "CI releases" }] }),
  );
  await writeFile(join(folder.path, "broken.json"), "{");
  await writeFile(join(folder.path, "wrong.json"), JSON.stringify({ denny: [] }));
  await writeFile(
    join(folder.path, "default.rules"),
    'prefix_rule(pattern=["git", "push"], decision="prompt")\nhost_executable(name="git", paths=["/usr/bin/git"])\n',
  );
  await mkdir(join(folder.path, ".claude"));
  await writeFile(
    join(folder.path, ".claude/settings.json"),
    JSON.stringify({
      permissions: { allow: ["Bash(make lint)"], deny: ["Read(./.env)"], defaultMode: "plan" },
    }),
  );
});
afterAll(async () => folder[Symbol.asyncDispose]());

const policy = async (...args: string[]): Promise<FinishedCli> =>
  runCli(["policy", ...args], { cwd: folder.path, env: { HOME: folder.path } });

describe("check", () => {
  test("explains each preset, and the commands of a script", async () => {
    const { exitCode, stdout, stderr } = await policy("check", "ls && npm test");

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "deny  read-only           runs project code, which can do everything that its sandbox allows [default]
          allow ls  only reads [preset/read-only/read]
          deny  npm test  runs project code, which can do everything that its sandbox allows [default]
      ask   workspace-write     runs project code, which can do everything that its sandbox allows [default]
          allow ls  only reads [preset/workspace-write/read]
          ask   npm test  runs project code, which can do everything that its sandbox allows [default]
      allow developer           runs project code, which can do everything that its sandbox allows [preset/developer/project-code]
          allow ls  only reads [preset/developer/read]
          allow npm test  runs project code, which can do everything that its sandbox allows [preset/developer/project-code]
      allow danger-full-access  runs project code, which can do everything that its sandbox allows [preset/danger-full-access/project-code]
          allow ls  only reads [preset/danger-full-access/read]
          allow npm test  runs project code, which can do everything that its sandbox allows [preset/danger-full-access/project-code]
      allow bypass              nothing is checked [preset/bypass]
      "
    `);
  });

  test("exits with 3 if the only policy does not allow it", async () => {
    const [denied, allowed, asked] = await Promise.all([
      policy("check", "--policy", "policy.json", "npm publish"),
      policy("check", "--policy", "policy.json", "--", "ls", "-la"),
      policy("check", "--preset", "workspace-write", "npm test", "--json"),
    ]);

    expect(denied.exitCode).toBe(3);
    expect(denied.stdout).toBe("deny  policy.json  npm is denied by npm publish …: CI releases [deny[0]]\n");
    expect(allowed.exitCode).toBe(0);
    expect(asked.exitCode).toBe(3);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      policy: "workspace-write",
      decision: "ask",
      command: "npm test",
    });
  });

  test("control characters of a policy are visible, and don't reach the terminal", async () => {
    const rule = { kind: "prefix", argv: ["frob"], justification: "\u001B[31mred" };
    await writeFile(join(folder.path, "hostile.json"), JSON.stringify({ deny: [rule] }));
    const { stdout } = await policy("check", "--policy", "hostile.json", "frob");

    expect(stdout).toContain(String.raw`\x1b[31mred`);
    expect(stdout).not.toContain("\u001B");
  });

  test.each([
    [["--policy", "missing.json", "ls"], "The policy missing.json can't be read (ENOENT)."],
    [["--policy", "broken.json", "ls"], "The policy broken.json is not JSON"],
    [["--policy", "wrong.json", "ls"], "The policy wrong.json is not valid"],
    [["--preset", "paranoid", "ls"], "Allowed choices are read-only"],
    [["--cd", "nowhere", "ls"], "nowhere does not exist."],
    [[], "missing required argument 'command'"],
  ])("%j is refused: %s", async (args, message) => {
    const { exitCode, stdout, stderr } = await policy("check", ...args);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("import", () => {
  test("writes one policy, and reports what has no equivalent", async () => {
    const result = await policy("import", "default.rules", ".claude/settings.json", "-o", "imported.json");

    expect(result).toMatchObject({ exitCode: 0, stdout: "" });
    expect(result.stderr).toMatchInlineSnapshot(`
      "Imported 2 deny, 1 ask, 1 allow from default.rules, .claude/settings.json.
      2 without an equivalent:
        default.rules: host_executable(name="git", paths=["/usr/bin/git"])
          a policy can't choose which executables a name refers to
        .claude/settings.json: permissions.defaultMode
          choose a preset and the roots of the workspace instead
      "
    `);
    expect(JSON.parse(await readFile(join(folder.path, "imported.json"), "utf8"))).toMatchObject({
      preset: "developer",
      ask: [{ kind: "prefix", argv: ["git", "push"] }],
    });
    const again = await policy("import", "default.rules", "-o", "imported.json");
    expect(again).toMatchObject({ exitCode: 2, stdout: "" });
    expect(again.stderr).toContain("Replace it with --force");
    expect((await policy("check", "--policy", "imported.json", "git push")).stdout).toMatch(/^ask /);
  });

  test("finds the files of the user and the project", async () => {
    const { exitCode, stdout } = await policy("import", "--json");

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      policy: { deny: [{ glob: ".env" }, { glob: ".env/**" }] },
      untranslated: [{ source: "permissions.defaultMode" }],
    });
  });

  test.each([
    [["missing.rules"], "The file missing.rules can't be read (ENOENT)."],
    [["broken.json"], "The file broken.json is not JSON"],
    [["policy.json", "-o", "no/such/folder"], "can't be written to no/such/folder (ENOENT)."],
  ])("%j is refused: %s", async (args, message) => {
    const { exitCode, stderr } = await policy("import", ...args);

    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });
});
