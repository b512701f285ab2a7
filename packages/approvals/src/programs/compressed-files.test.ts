import { expect, it } from "vitest";
import { literal } from "./declaration/word.ts";
import { compressionEffects } from "./compressed-files.ts";

it("names the compressed file after the operand", () => {
  expect(compressionEffects([literal("a"), literal("-")], ".gz", { expands: false, keeps: true })).toEqual([
    { kind: "write", path: { text: "a.gz" } },
  ]);
});

it("names the expanded file without its extension, and deletes the operand unless it is kept", () => {
  expect(
    compressionEffects([{ text: "b/*.tgz", isGlob: true }], ".gz", { expands: true, keeps: false }),
  ).toEqual([
    { kind: "write", path: { text: "b/*", isGlob: true } },
    { kind: "write", path: { text: "b/*.tar", isGlob: true } },
    { kind: "delete", path: { text: "b/*.tgz", isGlob: true }, isRecursive: false },
  ]);
});
