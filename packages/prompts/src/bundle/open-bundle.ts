import { messageOf } from "@codexkit/rpc/async";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { strFromU8, unzipSync } from "fflate";
import { z } from "zod";
import { PromptError } from "../errors.ts";
import { BUNDLE_VERSION, type BundleRecord, hash } from "./write-bundle.ts";

const manifestSchema = z.object({
  version: z.int(),
  evaluationId: z.string(),
  prompt: z.string(),
  status: z.enum(["completed", "failed"]),
  createdAt: z.string(),
  files: z.record(z.string(), z.string()),
});

/** A debug bundle that has been read and verified. */
export interface DebugBundle extends BundleRecord {
  readonly manifest: z.output<typeof manifestSchema>;
  readonly environment: unknown;
}

/** Maximum size of a bundle, both packed and unpacked. Node's longest string is twice as long. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Reads a debug bundle and checks its hashes. Needs no Codex.
 * @throws {PromptError} `invalid_bundle`
 */
export async function openBundle(path: string): Promise<DebugBundle> {
  const files = unzip(path, await readBounded(path));
  const manifest = readManifest(path, files.get("manifest.json"));
  for (const [name, expected] of Object.entries(manifest.files)) {
    const content = files.get(name);
    if (!content || hash(content) !== expected)
      throw invalid(path, `"${name}" is missing or has been changed`);
  }
  const unlisted = [...files.keys()].find(
    (name) => name !== "manifest.json" && !Object.hasOwn(manifest.files, name),
  );
  if (unlisted !== undefined) throw invalid(path, `"${unlisted}" is not in its manifest`);
  const text = (name: string): string => strFromU8(files.get(name) ?? new Uint8Array());
  const parse = (name: string, content: string): unknown => {
    try {
      return JSON.parse(content) as unknown;
    } catch (cause) {
      throw invalid(path, `"${name}" is not JSON`, cause);
    }
  };
  const json = (name: string): unknown => (files.has(name) ? parse(name, text(name)) : undefined);
  const lines = (name: string): readonly unknown[] =>
    text(name)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [parse(name, line)]));
  return {
    manifest,
    request: json("request.json"),
    output: json("output.json"),
    sessionBefore: json("session/before.json"),
    sessionAfter: json("session/after.json"),
    events: lines("events.jsonl"),
    transcript: lines("transcript.jsonl"),
    environment: json("environment.json"),
    diff: text("changes.diff"),
    error: json("error.json"),
  };
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    // Non-blocking, in case the path is a pipe or a device.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw invalid(path, "it is not a file");
    if (stats.size > MAX_BYTES) throw invalid(path, `it is larger than ${MAX_BYTES} bytes`);
    return await file.readFile();
  } catch (cause) {
    if (PromptError.is(cause)) throw cause;
    throw invalid(path, (cause as Error).message, cause);
  }
}

function unzip(path: string, bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  let unpacked = 0;
  try {
    const files = unzipSync(bytes, {
      // A file is unpacked into a buffer of its declared size, so it can't exceed that size.
      filter: ({ name, originalSize }) => {
        unpacked += originalSize;
        if (unpacked > MAX_BYTES) throw new Error(`it unpacks to more than ${MAX_BYTES} bytes`);
        if (name === "__proto__") throw new Error(`it contains a file named "${name}"`);
        return true;
      },
    });
    const manifest = files["manifest.json"];
    // The manifest contains the hashes of all other files, but not its own.
    if (manifest && crc32(manifest) !== findChecksum(bytes, "manifest.json"))
      throw new Error("its manifest has been changed");
    return new Map(Object.entries(files));
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
}

/** Field offsets of a file header in the zip's central directory, from the zip specification. */
const ENTRY = { signature: 0x02014b50, checksum: 16, nameLength: 28, name: 46 } as const;

/** Finds a file's CRC-32 in the zip's central directory, because fflate does not check it. */
function findChecksum(bytes: Uint8Array, name: string): number | undefined {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(ENTRY.signature);
  for (let at = zip.indexOf(signature); at >= 0; at = zip.indexOf(signature, at + 1)) {
    const start = at + ENTRY.name;
    if (start > zip.length) return undefined;
    const length = zip.readUInt16LE(at + ENTRY.nameLength);
    if (zip.toString("utf8", start, start + length) === name) return zip.readUInt32LE(at + ENTRY.checksum);
  }
  return undefined;
}

function readManifest(path: string, bytes: Uint8Array | undefined): z.output<typeof manifestSchema> {
  if (!bytes) throw invalid(path, "it has no manifest");
  let manifest: z.output<typeof manifestSchema>;
  try {
    manifest = manifestSchema.parse(JSON.parse(strFromU8(bytes)));
  } catch (cause) {
    throw invalid(path, "its manifest can't be read", cause);
  }
  if (manifest.version >= 1 && manifest.version <= BUNDLE_VERSION) return manifest;
  throw invalid(
    path,
    `it has version ${manifest.version}; this package reads versions 1 to ${BUNDLE_VERSION}`,
  );
}

function invalid(path: string, why: string, cause?: unknown): PromptError {
  return new PromptError("invalid_bundle", `${path} is not a valid debug bundle: ${why}.`, { cause });
}
