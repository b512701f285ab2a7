// The tables of behaviours in test/coverage name tests by file and title.
import { globSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const pages = globSync("test/coverage/*.md", { cwd: root });

it("finds the tables", () => {
  expect(pages.length).toBeGreaterThan(4);
});

it.each(pages)("%s names only tests that exist", (page) => {
  const table = readFileSync(join(root, page), "utf8");
  const files = [...table.matchAll(/`(?<file>[\w./-]+\.(?:test|soak)\.ts)`/g)].map(
    ({ groups }) => groups?.["file"] ?? "",
  );
  expect(files.length).toBeGreaterThan(15);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  // A title that ends in "…" is the beginning of one.
  const rows = [...table.matchAll(/`(?<file>[\w./-]+\.ts)`, "(?<title>[^"]+?)(?<more>…?)"/g)];
  const missing = rows
    .map(({ groups = {} }) => ({
      file: groups["file"] ?? "",
      title: groups["title"]?.trim() ?? "",
      more: groups["more"],
    }))
    .filter(({ file, title, more }) => {
      const quoted = more === "…" ? `"${title}` : `"${title}"`;
      const source = readFileSync(join(root, file), "utf8");
      return !source.includes(quoted);
    });
  expect(missing).toEqual([]);
});
