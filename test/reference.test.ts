import { tempFolder } from "@codexkit/testing";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const committed = join(root, "docs/reference");

function pages(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return Object.fromEntries(
    files
      .map((file) => [file.replaceAll("\\", "/"), join(folder, file)] as const)
      .filter(([, path]) => statSync(path).isFile())
      .map(([name, path]) => [name, readFileSync(path, "utf8")]),
  );
}

// TypeDoc reads every source file, which takes a minute on a busy machine.
it(
  "has a reference that matches the sources (npm run reference updates it)",
  { timeout: 180_000 },
  async () => {
    await using fresh = await tempFolder("reference");
    await promisify(execFile)(process.execPath, ["scripts/reference/generate.ts", fresh.path], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: "", NODE_DISABLE_COMPILE_CACHE: "1" },
    });

    const outdated = Object.entries(pages(fresh.path))
      .filter(([name, text]) => pages(committed)[name] !== text)
      .map(([name]) => name);
    expect(outdated).toEqual([]);
    expect(Object.keys(pages(committed)).toSorted()).toEqual(Object.keys(pages(fresh.path)).toSorted());
  },
);

it("explains every error code and every event of the SDK", () => {
  const page = pages(committed)["codexkit.md"] ?? "";
  const union = /^type CodexErrorCode =(?<members>[^;]*);$/m.exec(page)?.groups?.["members"] ?? "";
  const names = [...union.matchAll(/\| "(?<code>\w+)"/g)].map(({ groups }) => groups?.["code"]);

  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(page).toMatch(new RegExp(`^\\| \`"${name}"\` \\| \\S`, "m"));
  expect(page).toMatch(/^\| `"item\.delta"` \| \[ItemDeltaEvent\]\(#itemdeltaevent\) \|$/m);
  expect(page).toMatch(/^### ItemDeltaEvent$[^]*?`delta` \| `readonly` \| `string` \| New text\./m);
});
