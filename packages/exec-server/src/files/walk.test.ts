import { tempFolder } from "@codexkit/testing";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { pathUri } from "../wire/path-uri.ts";
import { walkTree } from "./walk.ts";

const OPTIONS = { maxDepth: 5, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: true };

test("lists the content of a folder once, also if a link to it comes first", async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, "b/inner"), { recursive: true });
  await writeFile(join(folder.path, "b/inner/file"), "");
  await symlink("b/inner", join(folder.path, "a"));
  await symlink("..", join(folder.path, "b/inner/up"));
  const { entries, errors, truncated } = await walkTree(folder.path, OPTIONS);
  expect(entries.map(({ path }) => path.slice(pathUri(folder.path).length))).toEqual([
    "/a",
    "/b",
    "/a/file",
    "/a/up",
    "/b/inner",
  ]);
  expect({ errors, truncated }).toEqual({ errors: [], truncated: false });
});

test("ends with what it has found when its time is over", async () => {
  await using folder = await tempFolder();
  await mkdir(join(folder.path, "sub"));
  expect(await walkTree(folder.path, OPTIONS, 0)).toEqual({ entries: [], errors: [], truncated: true });
  const whole = await walkTree(folder.path, OPTIONS);
  expect(whole.entries.map(({ path }) => basename(path))).toEqual(["sub"]);
  expect(whole.truncated).toBe(false);
});
