// A vitest global setup: hundreds of child processes run the sources, and a cache halves the time to load them.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { COMPILE_CACHE, memoryFolder } from "./memory-folder.ts";

const onDisk = join(import.meta.dirname, "../node_modules/.cache");

export default async function setup(): Promise<void> {
  const folder = join(memoryFolder() ?? onDisk, COMPILE_CACHE);
  // Programs in temporary folders leave entries that no later run can use.
  // Another run may be writing to it.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  process.env["NODE_COMPILE_CACHE"] = folder;
}
