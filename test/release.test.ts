import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bumpManifest, nextVersion, type VersionedManifest } from "../scripts/release-versions.ts";
import { publishedPackages, root } from "./published/published-packages.ts";

describe("a release", () => {
  it.each([
    ["0.1.9", "patch", "0.1.10"],
    ["0.1.9", "minor", "0.2.0"],
    ["0.1.9", "major", "1.0.0"],
    ["0.1.9", "0.1.10", "0.1.10"],
    ["0.9.9", "1.0.0", "1.0.0"],
  ])("from %s by %s has the version %s", (current, request, next) => {
    expect(nextVersion(current, request)).toBe(next);
  });

  it.each([
    ["0.2.0", "0.1.9", "not newer"],
    ["0.2.0", "0.2.0", "not newer"],
    ["0.2.0", "next", '"next" is not a version'],
    ["0.2.0", "1.0", '"1.0" is not a version'],
  ])("from %s by %s is rejected", (current, request, message) => {
    expect(() => nextVersion(current, request)).toThrow(message);
  });

  it("sets the versions of the packages that depend on each other, and of no others", () => {
    const manifest: VersionedManifest = {
      version: "0.1.0",
      dependencies: { ours: "^0.1.0", ws: "^8.0.0" },
      devDependencies: { ours: "0.1.0" },
    };
    bumpManifest(manifest, new Set(["ours"]), "0.2.0");
    expect(manifest).toEqual({
      version: "0.2.0",
      dependencies: { ours: "^0.2.0", ws: "^8.0.0" },
      devDependencies: { ours: "0.2.0" },
    });
  });

  it("starts from a single version, which the lockfile repeats", () => {
    const lockfile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      packages: Record<string, VersionedManifest>;
    };
    const versions = publishedPackages.flatMap(({ folder, manifest }) => [
      manifest.version,
      lockfile.packages[folder.slice(root.length + 1).replaceAll("\\", "/")]?.version,
    ]);
    expect(new Set(versions).size).toBe(1);
  });

  it("changes nothing without a version", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/release.ts"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(status).toBe(1);
    expect(stderr).toContain("Usage: npm run release -- patch|minor|major|x.y.z");
  });
});
