// The tables of behaviours in test/coverage name tests by file and title.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

it.each([
  ["ai-sdk.md", 40],
  ["provider.md", 40],
  ["daemon.md", 20],
] as const)("%s names only tests that exist", (page, atLeast) => {
  const table = readFileSync(join(root, "test/coverage", page), "utf8");
  const rows = [...table.matchAll(/`(?<file>[^`]+\.ts)`, "(?<title>[^"]+)"/g)].map(({ groups }) => ({
    file: groups?.["file"] ?? "",
    title: groups?.["title"] ?? "",
  }));
  expect(rows.length).toBeGreaterThan(atLeast);
  const missing = rows.filter(({ file, title }) => {
    const path = join(root, file);
    return !existsSync(path) || !readFileSync(path, "utf8").includes(`"${title}"`);
  });
  expect(missing).toEqual([]);
});
