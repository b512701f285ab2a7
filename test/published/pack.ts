import { join } from "node:path";
import { publishedPackages, root } from "./published-packages.ts";
import { runNpm } from "./run-command.ts";

interface PackReport {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

export interface PackedPackage {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** Packs every published package as `npm publish` would. Needs a build. */
export async function packAll(destination: string): Promise<ReadonlyMap<string, PackedPackage>> {
  const names = publishedPackages.map(({ manifest }) => manifest.name);
  const output = await runNpm(
    [
      "pack",
      "--json",
      "--ignore-scripts",
      "--pack-destination",
      destination,
      ...names.flatMap((name) => ["--workspace", name]),
    ],
    { cwd: root },
  );
  const parsed = JSON.parse(output) as PackReport[] | Record<string, PackReport>;
  // npm 12 reports an object keyed by package name.
  const reports = Array.isArray(parsed) ? parsed : Object.values(parsed);
  return new Map(
    reports.map(({ name, filename, files }) => [
      name,
      { tarball: join(destination, filename), files: files.map(({ path }) => path) },
    ]),
  );
}
