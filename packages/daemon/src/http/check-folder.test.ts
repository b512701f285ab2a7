import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkFolder } from "./check-folder.ts";

let base: string;
let root: string;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "codexkit-folder-")));
  root = join(base, "root");
  await mkdir(join(root, "project"), { recursive: true });
  await mkdir(join(base, "root-sibling"));
  await mkdir(join(base, "outside"));
  await writeFile(join(root, "file"), "");
  await symlink(join(base, "outside"), join(root, "escape"));
  await symlink(join(root, "project"), join(base, "outside", "back"));
});

afterAll(async () => rm(base, { recursive: true, force: true }));

test("resolves folders inside the roots", async () => {
  expect(await checkFolder(root, [root])).toBe(root);
  expect(await checkFolder(join(root, "project", "..", "project"), [root])).toBe(join(root, "project"));
  expect(await checkFolder(join(base, "outside", "back"), [root])).toBe(join(root, "project"));
});

test.each([
  ["a relative path", () => "project"],
  ["a missing folder", () => join(root, "missing")],
  ["a file", () => join(root, "file")],
  ["a folder outside", () => join(base, "outside")],
  ["a folder whose name begins like the root's", () => join(base, "root-sibling")],
  ["the parent of the root", () => base],
  ["a path with ..", () => `${root}/../outside`],
  ["a link that leads out", () => join(root, "escape")],
])("rejects %s", async (_, folder) => {
  await expect(checkFolder(folder(), [root])).rejects.toMatchObject({ code: "path_not_allowed" });
});

test("does not reveal whether a folder outside the roots exists", async () => {
  const messages = await Promise.all(
    ["outside", "missing"].map(async (name) => {
      const error = (await checkFolder(join(base, name), [root]).catch((reason: unknown) => reason)) as Error;
      return error.message.replace(name, "*");
    }),
  );
  expect(messages[0]).toBe(messages[1]);
});
