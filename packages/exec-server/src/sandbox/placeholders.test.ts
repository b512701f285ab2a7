import { tempFolder } from "@codexkit/testing";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Placeholders } from "./placeholders.ts";

test("creates a placeholder again that a user removed while a command runs", async () => {
  await using folder = await tempFolder("placeholders");
  const path = join(folder.path, ".git");
  const placeholders = new Placeholders(join(folder.path, "journal"));
  const first = placeholders.use([path]);
  rmSync(path, { recursive: true });
  expect(placeholders.has(path)).toBe(false);
  const second = placeholders.use([path]);
  expect(second).toBeDefined();
  expect(placeholders.has(path)).toBe(true);
  first?.[Symbol.dispose]();
  expect(existsSync(path)).toBe(true);
  second?.[Symbol.dispose]();
  expect(readdirSync(folder.path)).toEqual(["journal"]);
  expect(readdirSync(join(folder.path, "journal"))).toEqual([]);
});

test.each(["with a file", "empty"])("keeps a folder that replaced a placeholder, %s", async (kind) => {
  await using folder = await tempFolder("placeholders");
  const path = join(folder.path, ".git");
  const placeholders = new Placeholders(join(folder.path, "journal"));
  const used = placeholders.use([path]);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  if (kind === "with a file") writeFileSync(join(path, "HEAD"), "");
  expect(placeholders.has(path)).toBe(false);
  expect(placeholders.use([path])).toBeUndefined();
  used?.[Symbol.dispose]();
  expect(existsSync(path)).toBe(true);
  expect(readdirSync(join(folder.path, "journal"))).toEqual([]);
});
