import { tempFolder } from "@codexkit/testing";
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "./open-workspace.ts";

test("leftovers that are not this user's folders are not touched", async () => {
  await using folder = await tempFolder("state");
  const names = ["codexkit-workspace-link", "codexkit-workspace-file"].map((name) => join(tmpdir(), name));
  const [link = "", file = ""] = names;
  mkdirSync(join(folder.path, "target"));
  execFileSync("mkfifo", [join(folder.path, "target", "owner.json")]);
  symlinkSync(join(folder.path, "target"), link);
  writeFileSync(file, "");
  try {
    await openWorkspace()[Symbol.asyncDispose]();
    expect(names.map((name) => existsSync(name) || lstatSync(name).isSymbolicLink())).toEqual([true, true]);
  } finally {
    for (const name of names) rmSync(name, { force: true });
  }
});

test("a folder whose owner is a pipe does not block", async () => {
  const left = join(tmpdir(), "codexkit-workspace-pipe");
  mkdirSync(left);
  execFileSync("mkfifo", [join(left, "owner.json")]);
  try {
    await openWorkspace()[Symbol.asyncDispose]();
    expect(readdirSync(left)).toEqual(["owner.json"]);
  } finally {
    rmSync(left, { recursive: true });
  }
});
