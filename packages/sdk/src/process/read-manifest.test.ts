import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newMark } from "./owner-mark.ts";
import { readManifest } from "./read-manifest.ts";

describe("a manifest", () => {
  it("that can't be parsed is reported as corrupt, and a missing one as undefined", async () => {
    await using temp = await tempFolder();
    const path = join(temp.path, "x.json");
    expect(readManifest(path)).toBeUndefined();
    const owner = { pid: 2, start: "s", startOrder: 1 };
    const good = { version: 1, mark: newMark(), namespace: "n", owner };
    await writeFile(path, JSON.stringify(good));
    expect(readManifest(path)).toEqual(good);
    for (const bad of [
      "",
      "{",
      "null",
      "[]",
      JSON.stringify({ ...good, version: 2 }),
      JSON.stringify({ ...good, mark: "" }),
      // Numbers that `kill` would interpret as all processes.
      JSON.stringify({ ...good, child: { ...owner, pid: -1 } }),
      JSON.stringify({ ...good, child: { ...owner, pid: 0 } }),
      JSON.stringify({ ...good, child: { ...owner, pid: 1 } }),
      JSON.stringify({ ...good, child: { ...owner, pid: 1.5 } }),
      JSON.stringify({ ...good, more: "x".repeat(20_000) }),
    ]) {
      await writeFile(path, bad);
      expect(readManifest(path)).toBe("corrupt");
    }
  });

  it("never breaks its reader", async () => {
    await using temp = await tempFolder();
    const path = join(temp.path, "x.json");
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
        await writeFile(path, text);
        expect(readManifest(path)).toBe("corrupt");
      }),
      { numRuns: 50 },
    );
  });
});
