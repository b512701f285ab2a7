import { expect, test } from "vitest";
import { readExport } from "./read-export.ts";

const session = { id: "s1", name: "Demo", cwd: "/srv/app", preview: "hi" };
const header = { kind: "session", format: 1, codexVersion: "0.166.0", session };
const delta = {
  kind: "event",
  seq: 2,
  epoch: 1,
  at: 20,
  type: "item.delta",
  turn_id: "t",
  item_id: "i",
  data: '{"delta":"é"}',
};
const completed = { ...delta, seq: 3, type: "item.completed", data: '{"item":{"id":"i"}}' };
const end = { kind: "end", lines: 4, sha256: "" };

async function* chunksOf(lines: readonly unknown[], size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 7, 10_000])("reads events from chunks of %d bytes", async (size) => {
  const exported = await readExport(chunksOf([header, delta, { kind: "item" }, completed, end], size));
  expect(exported).toEqual({
    session,
    codexVersion: "0.166.0",
    events: [
      { type: "item.delta", seq: 2, epoch: 1, at: 20, turnId: "t", itemId: "i", delta: "é" },
      { type: "item.completed", seq: 3, epoch: 1, at: 20, turnId: "t", item: { id: "i" } },
    ],
  });
});

test.each([
  [[], "The file is empty."],
  [[{ some: "json" }], "Expected a session that was exported"],
  [[{ ...header, format: 2 }], "this console reads format 1"],
  [[header, delta], "The file ends after line 2"],
  [[header, { ...delta, data: "{" }, end], "Line 2 is not an event."],
  [[header, 5, end], "Line 2 is not a JSON object."],
])("refuses %j", async (lines, message) => {
  await expect(readExport(chunksOf(lines, 100))).rejects.toThrow(message);
});
