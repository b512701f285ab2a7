// A vitest global setup: hundreds of child processes run the sources, and with a cache each takes half of the time to load them.
import { rm } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../node_modules/.cache/compile");

export default async function setup(): Promise<void> {
  // Programs in temporary folders leave entries that no later run can use.
  // Another run may be writing to it.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  process.env["NODE_COMPILE_CACHE"] = folder;
}
