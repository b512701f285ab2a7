// All other tests run the sources. Here every published entry point is loaded from its build, as users load it.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

const packages = join(import.meta.dirname, "../packages");

/** All entry points of the published packages. */
const entries = readdirSync(packages).flatMap((folder) => {
  const manifest = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8")) as Manifest;
  if (manifest.private) return [];
  return Object.entries(manifest.exports)
    .filter(([, target]) => typeof target !== "string")
    .map(([path]) => join(manifest.name, path));
});

describe("a published package", () => {
  it.each(entries)("%s loads from its build", async (entry) => {
    const program = `import(${JSON.stringify(entry)}).then((m) => console.log(Object.keys(m).length))`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], {
      cwd: join(import.meta.dirname, ".."),
      // Without the condition that selects the sources.
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    expect(Number(stdout)).toBeGreaterThan(0);
  });
});
