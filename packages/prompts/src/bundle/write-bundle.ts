import { createHash } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { redactEnvironment } from "./redact-environment.ts";

/** Version of the bundle format. */
export const BUNDLE_VERSION = 1;

/** The data that a bundle records about an evaluation. */
export interface BundleRecord {
  /** The rendered prompt and the parameters it was bound to. */
  readonly request: unknown;
  readonly output: unknown;
  readonly sessionBefore: unknown;
  readonly sessionAfter: unknown;
  readonly events: readonly unknown[];
  readonly transcript: readonly unknown[];
  readonly diff: string;
  /** Undefined if the evaluation completed. */
  readonly error: unknown;
}

/** A record with metadata of its evaluation. */
export interface BundleContent extends BundleRecord {
  readonly evaluationId: string;
  readonly prompt: string;
  readonly status: "completed" | "failed";
}

/** Writes a debug bundle, a zip file whose manifest contains the hashes of all other files. Returns its path. */
export async function writeBundle(
  folder: string,
  content: BundleContent,
  now: Date = new Date(),
): Promise<string> {
  const files: Record<string, Uint8Array> = {
    "request.json": toJson(content.request),
    "output.json": toJson(content.output),
    "session/before.json": toJson(content.sessionBefore),
    "session/after.json": toJson(content.sessionAfter),
    "events.jsonl": toLines(content.events),
    "transcript.jsonl": toLines(content.transcript),
    "environment.json": toJson({
      node: process.version,
      platform: process.platform,
      variables: redactEnvironment(process.env),
    }),
    "changes.diff": strToU8(content.diff),
    ...(content.error !== undefined && { "error.json": toJson(content.error) }),
  };
  const manifest = {
    version: BUNDLE_VERSION,
    evaluationId: content.evaluationId,
    prompt: content.prompt,
    status: content.status,
    createdAt: now.toISOString(),
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, hash(bytes)])),
  };
  await mkdir(folder, { recursive: true });
  const name = `${content.prompt.replaceAll("/", "-")}-${content.evaluationId}.zip`;
  const path = join(folder, name);
  const unfinished = `${path}.tmp`;
  // Only the owner can read the file, because sessions and transcripts may contain data that the agent read.
  await writeFile(unfinished, zipSync({ "manifest.json": toJson(manifest), ...files }), { mode: 0o600 });
  await rename(unfinished, path);
  return path;
}

function toJson(value: unknown): Uint8Array {
  return strToU8(JSON.stringify(value ?? null, undefined, 2));
}

function toLines(values: readonly unknown[]): Uint8Array {
  return strToU8(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}

export function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
