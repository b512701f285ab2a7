import { tempFolder } from "@codexkit/testing";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** Lints a file of `packages/rpc/src` in a copy of the repository's layout, because the rules depend on the path. */
async function lint(source: string, file: string): Promise<string> {
  await using copy = await tempFolder("import-arrows");
  const folder = join(copy.path, "packages/rpc/src");
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, "oxlint.config.ts"), join(copy.path, "oxlint.config.ts"));
  symlinkSync(join(root, "node_modules"), join(copy.path, "node_modules"), "junction");
  writeFileSync(join(folder, file), source);
  const oxlint = join(root, "node_modules/oxlint/bin/oxlint");
  const { stdout, status } = spawnSync(process.execPath, [oxlint, join(folder, file)], {
    cwd: copy.path,
    encoding: "utf8",
  });
  return `${status === 0 ? "accepted" : "rejected"}: ${stdout}`;
}

describe("the import rules", () => {
  it("reject an import of a higher layer", async () => {
    expect(await lint('import "@codexkit/testing";\n', "up.ts")).toMatch(
      /^rejected[^]*may import: no workspace package/,
    );
  });

  it("reject a path into another package", async () => {
    expect(await lint('import "../../../protocol/src/index.ts";\n', "path.ts")).toMatch(
      /^rejected[^]*by its name/,
    );
  });

  it("let tests import the harness, but no other higher layer", async () => {
    expect(await lint('import "@codexkit/testing";\n', "harness.test.ts")).toMatch(/^accepted/);
    expect(await lint('import "@codexkit/protocol";\n', "above.test.ts")).toMatch(/^rejected/);
  });
});
