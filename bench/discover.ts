import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import type { Bench } from "./define-bench.ts";

const SUFFIX = ".bench.ts";

/** Lists the benchmarks in a folder (`NAME.bench.ts`) without loading them. */
export async function listBenchNames(folder: string): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .toSorted();
}

export async function loadBench(folder: string, name: string): Promise<Bench> {
  const file = `${name}${SUFFIX}`;
  const module: unknown = await import(pathToFileURL(join(folder, file)).href);
  const bench =
    typeof module === "object" && module !== null && "default" in module ? module.default : undefined;
  if (!isBench(bench)) throw new TypeError(`${file} does not export a defineBench(…) as its default`);
  if (bench.name !== name)
    throw new TypeError(`${file} declares the name "${bench.name}", expected "${name}"`);
  return bench;
}

function isBench(value: unknown): value is Bench {
  return (
    typeof value === "object" && value !== null && "open" in value && "rowNames" in value && "name" in value
  );
}
