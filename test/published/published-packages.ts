import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly engines: { readonly node: string };
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface PublishedPackage {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The import specifiers: `codexkit`, `codexkit/compat`, … */
  readonly entryPoints: readonly string[];
  /** The oldest Node that runs it. */
  readonly oldestNode: "22.12" | "24";
}

/** All published packages, in the order of their folders. */
export const publishedPackages: readonly PublishedPackage[] = readdirSync(join(root, "packages"))
  .map((name) => join(root, "packages", name))
  .map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest,
  }))
  .filter(({ manifest }) => manifest.private !== true)
  .map(({ folder, manifest }) => ({
    folder,
    manifest,
    entryPoints: Object.entries(manifest.exports)
      .filter(([, target]) => typeof target !== "string")
      .map(([path]) => `${manifest.name}${path.slice(1)}`),
    oldestNode: manifest.engines.node === ">=24" ? "24" : "22.12",
  }));
