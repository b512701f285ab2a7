import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findFolderCycles, readImports } from "./folder-cycles.ts";

const packages = join(import.meta.dirname, "../packages");

/** Packages whose folders still import each other in cycles. */
const UNRESOLVED: ReadonlySet<string> = new Set([]);

const checked = readdirSync(packages).filter(
  (name) => existsSync(join(packages, name, "src")) && !UNRESOLVED.has(name),
);

describe("the folders of a package", () => {
  it.each(checked)("%s import each other in one direction only", (name) => {
    expect(findFolderCycles(readImports(join(packages, name, "src")))).toEqual([]);
  });
});

describe("findFolderCycles", () => {
  it("returns the path of a cycle", () => {
    const imports = new Map([
      ["events/event.ts", ["turn/result.ts"]],
      ["turn/result.ts", ["thread/thread.ts"]],
      ["thread/thread.ts", ["events/event.ts"]],
    ]);
    expect(findFolderCycles(imports)).toEqual(["events -> turn -> thread -> events"]);
  });

  it("finds a cycle below a folder, and through a file", () => {
    const imports = new Map([
      ["codex/session/session.ts", ["codex/keys/keys.ts"]],
      ["codex/keys/keys.ts", ["codex/session/session.ts"]],
      ["options/known.ts", ["codex.ts"]],
      ["codex.ts", ["options/known.ts"]],
    ]);
    expect(findFolderCycles(imports).toSorted()).toEqual([
      "codex.ts -> options -> codex.ts",
      "codex/keys -> codex/session -> codex/keys",
    ]);
  });

  it("accepts root files that import folders or are imported by them, and files of one folder that import each other", () => {
    const imports = new Map([
      ["index.ts", ["turn/turn.ts", "errors.ts"]],
      ["turn/turn.ts", ["turn/input.ts", "errors.ts"]],
      ["turn/input.ts", ["turn/turn.ts"]],
    ]);
    expect(findFolderCycles(imports)).toEqual([]);
  });
});
