import { describe, expect, it } from "vitest";
import { Workspace, type Location } from "../files/workspace.ts";
import type { Effect } from "../programs/declaration/effect.ts";
import { ScriptChanges } from "./script-changes.ts";

class CountingWorkspace extends Workspace {
  located = 0;

  constructor() {
    super({ roots: ["/srv/app"], temp: [], home: undefined, cwd: "/srv/app", facts: undefined });
  }

  override locate(absolute: string, isPattern = false): Location {
    this.located += 1;
    return super.locate(absolute, isPattern);
  }
}

function copies(count: number): Effect[] {
  return Array.from({ length: count }, (_, index): Effect[] => [
    { kind: "read", path: { text: `a${index}` } },
    { kind: "write", path: { text: `d/a${index}` } },
  ]).flat();
}

function located(count: number): number {
  const workspace = new CountingWorkspace();
  new ScriptChanges(workspace).record(copies(count), "/srv/app");
  return workspace.located;
}

describe("the changes of a script", () => {
  it("look up every copied file once, however many there are", () => {
    expect(located(2_000)).toBe(2 * located(1_000));
  });

  it("make paths below a copy uncertain, but not the copy of a plain file itself", () => {
    const workspace = new CountingWorkspace();
    const changes = new ScriptChanges(workspace);
    changes.record(copies(1), "/srv/app");
    expect(changes.isRelinked(workspace.locate("/srv/app/d/a0/x"))).toBe(true);
    expect(changes.isRelinked(workspace.locate("/srv/app/d/a0"))).toBe(false);
    expect(changes.isRelinked(workspace.locate("/srv/app/d"))).toBe(false);
  });

  it("make a link and the paths below it uncertain", () => {
    const workspace = new CountingWorkspace();
    const changes = new ScriptChanges(workspace);
    changes.record([{ kind: "link", path: { text: "b" }, target: { text: "src" } }], "/srv/app");
    expect(changes.isRelinked(workspace.locate("/srv/app/b"))).toBe(true);
    expect(changes.isRelinked(workspace.locate("/srv/app/b/c/d"))).toBe(true);
    expect(changes.isRelinked(workspace.locate("/srv/app/bc"))).toBe(false);
  });
});
