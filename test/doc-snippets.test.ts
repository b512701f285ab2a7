import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
/** Below the root, so that workspace packages are found; ignored by git. */
const folder = join(root, "node_modules/.cache/doc-snippets");

/** Every `ts` block of the README and the docs, with the name it is compiled under. */
function snippets(): { name: string; source: string }[] {
  const docs = readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md"));
  return ["README.md", ...docs.map((file) => join("docs", file))].flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(/^```ts\n(?<source>[^]*?)^```$/gm)].map(({ groups, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return { name: `${file.replaceAll(/\W/g, "-")}-line-${line}.ts`, source: groups?.["source"] ?? "" };
    });
  });
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// A compiler that starts anew takes half a minute on a machine that is busy.
it("compiles every code sample of the README and the docs", { timeout: 120_000 }, () => {
  mkdirSync(folder, { recursive: true });
  const all = snippets();
  expect(all.length).toBeGreaterThan(0);
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
        // A sample shows a name and leaves its use to the reader.
        noUnusedLocals: false,
        noUnusedParameters: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
      },
      include: ["*.ts"],
    }),
  );
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});
