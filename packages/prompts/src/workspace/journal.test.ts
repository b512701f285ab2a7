import { tempFolder } from "@codexkit/testing";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Journal, readUnfinished, type SavedEntry } from "./journal.ts";

let folder: Awaited<ReturnType<typeof tempFolder>>;
let path: string;

beforeEach(async () => {
  folder = await tempFolder("journal");
  path = join(folder.path, "journal.jsonl");
});

afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

const file: SavedEntry = {
  type: "file",
  mode: 0o644,
  version: { size: 1, mtimeMs: 1, ctimeMs: 1, inode: 1 },
  content: { offset: 0, length: 1, hash: "h" },
};

function write(...entries: readonly Parameters<Journal["write"]>[0][]): void {
  using journal = new Journal(path);
  for (const entry of entries) journal.write(entry);
}

test("an unfinished transaction contains the paths at its beginning", () => {
  write(
    { set: [["a", file]] },
    { begin: 1, uncovered: ["pipe"], rules: [["", "*.log"]] },
    { set: [["b", file]] },
    { set: [["a", null]] },
  );

  expect(readUnfinished(path)).toEqual({
    entries: new Map([["a", file]]),
    uncovered: new Set(["pipe"]),
    rules: new Map([["", "*.log"]]),
  });
});

test("a finished transaction is not reported", () => {
  write({ begin: 0, uncovered: [] }, { end: 0 });
  expect(readUnfinished(path)).toBeUndefined();
});

test("a truncated last line is ignored", () => {
  write({ set: [["a", file]] }, { begin: 1, uncovered: [] });
  appendFileSync(path, '{"end":');
  expect(readUnfinished(path)).toMatchObject({ entries: new Map([["a", file]]) });
});

test.for(["not JSON", "null", "{}", '{"set":[["a",{"type":"file"}]]}', '{"begin":1}'])(
  "a journal with the line %s is reported as damaged there",
  (line) => {
    write({ set: [["a", file]] }, { begin: 1, uncovered: [] });
    appendFileSync(path, `${line}\n`);
    write({ end: 1 });
    expect(readUnfinished(path)).toEqual({ damagedAt: `${path}:3` });
  },
);

test.for(["../a", "/a", "a/../../b", "..", "", ".", "a//b"])(
  "a journal with the path %j is reported as damaged",
  (outside) => {
    writeFileSync(path, `${JSON.stringify({ set: [[outside, file]] })}\n{"begin":1,"uncovered":[]}\n`);
    expect(readUnfinished(path)).toEqual({ damagedAt: `${path}:1` });
  },
);
