// Damaged and malicious bundles.
import { tempFolder } from "@codexkit/testing";
import fc from "fast-check";
import { strToU8, unzipSync, zipSync } from "fflate";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PromptError } from "../src/errors.ts";
import { openBundle } from "../src/bundle/open-bundle.ts";
import { hash, writeBundle } from "../src/bundle/write-bundle.ts";

let folder: Awaited<ReturnType<typeof tempFolder>>;
let intact: Uint8Array;
let files: Record<string, Uint8Array>;

beforeAll(async () => {
  folder = await tempFolder("hostile-bundle");
  const path = await writeBundle(folder.path, {
    evaluationId: "e1",
    prompt: "test/p",
    status: "completed",
    request: { text: "Do it. ".repeat(50) },
    output: {},
    sessionBefore: {},
    sessionAfter: {},
    events: [{ type: "A" }],
    transcript: [],
    diff: "",
    error: undefined,
  });
  intact = readFileSync(path);
  files = unzipSync(intact);
});

afterAll(() => folder[Symbol.asyncDispose]());

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
}

/** Creates a bundle with some files replaced or added, and a matching manifest unless one is passed. */
function make(changes: Record<string, Uint8Array>, manifest: object | string = {}): Uint8Array {
  const { "manifest.json": original, ...rest } = files;
  const content = { ...rest, ...changes };
  const hashes = Object.fromEntries(Object.entries(content).map(([name, bytes]) => [name, hash(bytes)]));
  const json =
    typeof manifest === "string"
      ? manifest
      : JSON.stringify({
          ...(JSON.parse(new TextDecoder().decode(original)) as object),
          files: hashes,
          ...manifest,
        });
  return zipSync({ "manifest.json": strToU8(json), ...content });
}

/** Declares a different size for every file, in both of its headers. */
function announceSize(zip: Uint8Array, size: number): Uint8Array {
  const bytes = Buffer.from(zip);
  for (let at = 0; at < bytes.length - 4; at += 1) {
    if (bytes.readUInt32LE(at) === 0x02014b50) bytes.writeUInt32LE(size, at + 24);
    if (bytes.readUInt32LE(at) === 0x04034b50) bytes.writeUInt32LE(size, at + 22);
  }
  return bytes;
}

function rename(zip: Uint8Array, from: string, to: string): Uint8Array {
  return Buffer.from(Buffer.from(zip).toString("latin1").replaceAll(from, to), "latin1");
}

const cases: readonly (readonly [string, () => Uint8Array])[] = [
  ["an empty file", () => new Uint8Array()],
  ["a zip without files", () => zipSync({})],
  ["a zip without a manifest", () => zipSync({ "request.json": strToU8("{}") })],
  ["a manifest that is not JSON", () => make({}, "{")],
  ["a manifest that is null", () => make({}, "null")],
  ["a manifest that is a list", () => make({}, "[]")],
  ["a manifest without files", () => make({}, { files: undefined })],
  ["a manifest whose hashes are numbers", () => make({}, { files: { "request.json": 1 } })],
  ["version 0", () => make({}, { version: 0 })],
  ["a negative version", () => make({}, { version: -1 })],
  ["a version between two", () => make({}, { version: 1.5 })],
  ["a version as text", () => make({}, { version: "1" })],
  ["a version of the future", () => make({}, { version: 2 })],
  ["an unknown status", () => make({}, { status: "unknown" })],
  ["a manifest that lists no file", () => make({}, { files: {} })],
  ["a manifest that lists a missing file", () => make({}, { files: { nothing: "h" } })],
  ["a wrong hash", () => make({}, { files: { "request.json": "0".repeat(64) } })],
  ["a request that is not JSON", () => make({ "request.json": strToU8("{") })],
  ["an event that is not JSON", () => make({ "events.jsonl": strToU8("{}\n{\n") })],
  ["a transcript of garbage", () => make({ "transcript.jsonl": Uint8Array.of(0, 255, 10) })],
  ["a file that is not listed", () => zipSync({ ...files, "extra.json": strToU8("{}") })],
  ["a file outside the folder that is not listed", () => zipSync({ ...files, "../extra": strToU8("{}") })],
  [
    "a file named __proto__",
    () => rename(zipSync({ ...files, __proto_x: strToU8("{}") }), "__proto_x", "__proto__"),
  ],
  ["files that announce 200 MB each", () => announceSize(intact, 200 * 1024 * 1024)],
  ["files that announce 4 GB each", () => announceSize(intact, 0xff_ff_ff_fe)],
  ["files that announce one byte each", () => announceSize(intact, 1)],
];

test.for(cases)("%s is rejected", async ([name, bytes]) => {
  const path = write(`${name.replaceAll(/\W/g, "-")}.zip`, bytes());
  await expect(openBundle(path)).rejects.toMatchObject({ code: "invalid_bundle" });
});

test("a zip bomb is rejected without being unpacked", async () => {
  const zeros = zipSync({ "changes.diff": new Uint8Array(64 * 1024 * 1024) }, { level: 9 });
  const bomb = announceSize(zeros, 300 * 1024 * 1024);
  await expect(openBundle(write("bomb.zip", bomb))).rejects.toThrow(/unpacks to more than/);
});

test("names that lead outside the folder are treated as plain names", async () => {
  const path = write("traversal.zip", make({ "../../escaped": strToU8("x"), "/etc/escaped": strToU8("x") }));
  await expect(openBundle(path)).resolves.toMatchObject({ manifest: { prompt: "test/p" } });
});

test.for(["missing", "folder", "pipe"])(
  "a path that is a %s is rejected and does not block",
  async (kind) => {
    const path = join(folder.path, kind);
    if (kind === "folder") mkdirSync(path);
    if (kind === "pipe") execFileSync("mkfifo", [path]);
    await expect(openBundle(path)).rejects.toMatchObject({ code: "invalid_bundle" });
  },
);

test("a bundle that was truncated or changed anywhere is rejected or read unchanged", async () => {
  const expected = await openBundle(write("intact.zip", intact));
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: intact.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, change, isCut) => {
        const bytes = isCut ? intact.slice(0, at) : Uint8Array.from(intact);
        if (!isCut) bytes[at] = (bytes[at] ?? 0) ^ change;
        const path = write("changed.zip", bytes);
        const outcome = await openBundle(path).then(
          (found) => (isDeepStrictEqual(found, expected) ? "read as it was" : "read with another content"),
          (error: unknown) => (PromptError.is(error) ? error.code : String(error)),
        );
        expect(["read as it was", "invalid_bundle"]).toContain(outcome);
      },
    ),
    { numRuns: 300 },
  );
});
