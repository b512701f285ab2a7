import { lstatSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { ProcessIdentity } from "./find-owned.ts";
import { SWEEP_LIMITS } from "./limits.ts";
import type { OwnerManifest } from "./owner-manifest.ts";

// Separate from the code that writes manifests: a launch writes one before it spawns codex, and must not wait for zod to load.

const identity: z.ZodType<ProcessIdentity> = z.object({
  pid: z.int().min(2),
  /** Empty where the system reports no start times. */
  start: z.string(),
  startOrder: z.number(),
});

const schema: z.ZodType<OwnerManifest> = z.object({
  version: z.literal(1),
  mark: z.uuid(),
  namespace: z.string(),
  owner: identity,
  child: identity.optional(),
  forks: z.int().optional(),
});

/** Reads a manifest. Undefined if the file is gone, "corrupt" if it is not a manifest. */
export function readManifest(path: string): OwnerManifest | "corrupt" | undefined {
  try {
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > SWEEP_LIMITS.manifestBytes) return "corrupt";
    const parsed = schema.safeParse(JSON.parse(readFileSync(path, "utf8")));
    return parsed.success ? parsed.data : "corrupt";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "corrupt";
  }
}
