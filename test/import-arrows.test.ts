import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
/** Inside a package, because the rules go by path; never committed, because it is removed again. */
const folder = join(root, "packages/rpc/src/arrow-fixture");

function lint(source: string, file: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, file);
  writeFileSync(path, source);
  const { stdout, status } = spawnSync(join(root, "node_modules/.bin/oxlint"), [path], {
    cwd: root,
    encoding: "utf8",
  });
  return `${status === 0 ? "clean" : "refused"}: ${stdout}`;
}

describe("the import arrows", () => {
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("refuse an import up the layers", () => {
    expect(lint('import "@codexkit/testing";\n', "up.ts")).toMatch(
      /^refused[^]*may import: no workspace package/,
    );
  });

  it("refuse a path into another package", () => {
    expect(lint('import "../../../protocol/src/index.ts";\n', "path.ts")).toMatch(/^refused[^]*by its name/);
  });

  it("let tests use the harness, and nothing else that is above them", () => {
    expect(lint('import "@codexkit/testing";\n', "harness.test.ts")).toMatch(/^clean/);
    expect(lint('import "@codexkit/protocol";\n', "above.test.ts")).toMatch(/^refused/);
  });
});
