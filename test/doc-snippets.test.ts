import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readDocBlocks } from "./doc-blocks.ts";

const root = join(import.meta.dirname, "..");
/** Below the root, so that workspace packages are resolved. Ignored by git. */
const folder = join(root, "node_modules/.cache/doc-snippets");

/** Returns all `ts` blocks of the READMEs and the docs, with a file name for each. */
function collectSnippets(): { name: string; source: string }[] {
  // The generated reference contains fragments of types, which are not programs.
  const files = globSync(["README.md", "packages/*/README.md", "docs/**/*.md"], {
    cwd: root,
    exclude: ["docs/reference/**"],
  });
  return files.flatMap((file) =>
    readDocBlocks(file).map(({ code, line }) => ({
      name: `${file.replaceAll(/\W/g, "-")}-line-${line}.ts`,
      source: code,
    })),
  );
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A cold compiler takes half a minute on a busy machine.
it("compiles every code sample of the READMEs and the docs", { timeout: 120_000 }, () => {
  mkdirSync(folder, { recursive: true });
  const all = collectSnippets();
  expect(all.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^docs-guides-/));
  for (const { name, source } of all) writeFileSync(join(folder, name), `${source}\nexport {};\n`);
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.base.json"),
      compilerOptions: {
        noEmit: true,
        composite: false,
        declaration: false,
        declarationMap: false,
        // Samples declare names that they don't use.
        noUnusedLocals: false,
        noUnusedParameters: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
      },
      include: ["*.ts"],
    }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});
