import { tempFolder } from "@codexkit/testing";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openFolder } from "./open-folder.ts";
import { openWorkspace } from "./open-workspace.ts";

let folder: Awaited<ReturnType<typeof tempFolder>>;
let root: string;
let outside: string;

beforeEach(async () => {
  folder = await tempFolder("open-folder");
  root = join(folder.path, "root");
  outside = join(folder.path, "outside");
  mkdirSync(join(root, "d/e"), { recursive: true });
  mkdirSync(outside);
});

afterEach(() => folder[Symbol.asyncDispose]());

test.runIf(process.platform === "linux")(
  "a folder that is replaced by a link after it was opened is still the opened one",
  () => {
    using opened = openFolder(root, "d/e");
    renameSync(join(root, "d"), join(root, "away"));
    symlinkSync(outside, join(root, "d"));
    mkdirSync(join(outside, "e"));

    writeFileSync(join(opened.path, "file"), "inside");

    expect(readFileSync(join(root, "away/e/file"), "utf8")).toBe("inside");
    expect(existsSync(join(outside, "e/file"))).toBe(false);
  },
);

test.for(["d", "d/e"])("a link that replaces %s is not followed", (path) => {
  rmSync(join(root, path), { recursive: true });
  mkdirSync(join(outside, "e"));
  symlinkSync(path === "d" ? outside : join(outside, "e"), join(root, path));
  for (const create of [false, true])
    expect(() => openFolder(root, "d/e", { create })).toThrow(/not a directory|ELOOP/u);
  expect(() => openFolder(root, "d/e/new", { create: true })).toThrow(/not a directory|ELOOP/u);
  expect(readdirSync(join(outside, "e"))).toEqual([]);
});

test.for(["..", "../outside", "d/../../outside", "d/.."])("the path %s is rejected", (path) => {
  expect(() => openFolder(root, path)).toThrow(/a link leads|replaced/u);
});

test("missing folders are created if requested, and named in the error otherwise", () => {
  expect(() => openFolder(root, "d/x/y")).toThrow(join(root, "d/x"));
  using opened = openFolder(root, "d/x/y", { create: true });
  writeFileSync(join(opened.path, "file"), "made");
  expect(readFileSync(join(root, "d/x/y/file"), "utf8")).toBe("made");
});

test("a root that was replaced by a link is rejected by every operation", async () => {
  await using workspace = openWorkspace({ folder: root, stateRoot: join(folder.path, "state") });
  workspace.writeText("d/f", "before");
  const snapshot = await workspace.snapshot();
  workspace.writeText("d/f", "changed");
  renameSync(root, join(folder.path, "moved"));
  symlinkSync(outside, root);
  writeFileSync(join(outside, "precious"), "precious");

  const refused = { code: "workspace_security" };
  await expect(workspace.restore(snapshot)).rejects.toMatchObject(refused);
  await expect(workspace.snapshot()).rejects.toMatchObject(refused);
  expect(() => workspace.writeText("d/f", "outside")).toThrow(expect.objectContaining(refused) as Error);
  expect(() => workspace.remove("precious")).toThrow(expect.objectContaining(refused) as Error);
  expect(() => openFolder(root, ".")).toThrow(/replaced|ENOTDIR|ELOOP/u);
  expect(existsSync(join(outside, "precious"))).toBe(true);
  expect(existsSync(join(outside, "d"))).toBe(false);
});

test("errors contain the caller's name for the file", async () => {
  await using workspace = openWorkspace({ folder: root, stateRoot: join(folder.path, "state") });
  expect(() => workspace.readText("d/missing.txt")).toThrow(
    "ENOENT: no such file or directory, open 'd/missing.txt'",
  );
});
