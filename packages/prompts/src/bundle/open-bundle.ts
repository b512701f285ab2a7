import { readFile } from "node:fs/promises";
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

/** A debug bundle that was read and checked. */
export interface DebugBundle extends BundleRecord {
  readonly manifest: z.output<typeof manifestSchema>;
  readonly environment: unknown;
}

/** Bytes that a bundle may unpack to. */
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;

/**
 * Reads a debug bundle and checks its hashes. Needs no Codex.
 * @throws {PromptError} `invalid_bundle`
 */
export async function openBundle(path: string): Promise<DebugBundle> {
  const bytes = await readFile(path);
  const files = unzip(path, bytes);
  const manifest = readManifest(path, files["manifest.json"]);
  for (const [name, expected] of Object.entries(manifest.files)) {
    const content = files[name];
    if (!content || hash(content) !== expected) throw invalid(path, `"${name}" is missing or was changed`);
  }
  const text = (name: string): string => strFromU8(files[name] ?? new Uint8Array());
  const json = (name: string): unknown => (name in files ? (JSON.parse(text(name)) as unknown) : undefined);
  const lines = (name: string): readonly unknown[] =>
    text(name)
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
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

function unzip(path: string, bytes: Uint8Array): Record<string, Uint8Array> {
  let unpacked = 0;
  try {
    return unzipSync(bytes, {
      filter: ({ originalSize }) => {
        unpacked += originalSize;
        if (unpacked > MAX_UNPACKED_BYTES)
          throw new Error(`it unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
        return true;
      },
    });
  } catch (cause) {
    throw invalid(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function readManifest(path: string, bytes: Uint8Array | undefined): z.output<typeof manifestSchema> {
  if (!bytes) throw invalid(path, "it has no manifest");
  let manifest: z.output<typeof manifestSchema>;
  try {
    manifest = manifestSchema.parse(JSON.parse(strFromU8(bytes)));
  } catch (cause) {
    throw invalid(path, "its manifest can't be read", cause);
  }
  if (manifest.version <= BUNDLE_VERSION) return manifest;
  throw invalid(path, `it has version ${manifest.version}; this package reads up to ${BUNDLE_VERSION}`);
}

function invalid(path: string, why: string, cause?: unknown): PromptError {
  return new PromptError("invalid_bundle", `${path} is not a valid debug bundle: ${why}.`, { cause });
}
