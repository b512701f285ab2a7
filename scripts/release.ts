// Prepares a release: npm run release -- patch|minor|major|x.y.z [--dry-run] [-- arguments for the tests] Sets the version of
// every package, builds, runs every check, and packs into release/. Publishes nothing: .github/workflows/release.yml does that
// for a tag. With --dry-run the old versions are restored at the end.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bumpManifest, nextVersion, type VersionedManifest } from "./release-versions.ts";

const root = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "dry-run": { type: "boolean", default: false } },
});
const [request, ...testArguments] = positionals;
if (request === undefined) {
  console.error("Usage: npm run release -- patch|minor|major|x.y.z [--dry-run] [-- arguments for the tests]");
  process.exit(1);
}

const manifests = ["packages", "examples", "bench", "interop", "test", "scripts"].flatMap((folder) =>
  globSync([`${folder}/package.json`, `${folder}/*/package.json`], {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }),
);
const packages = manifests.filter((path) => path.startsWith("packages"));
const released = new Set(packages.map((path) => readManifest(path).name ?? ""));
const current = readManifest("packages/sdk/package.json").version ?? "";
const version = nextVersion(current, request);
const changed = [...manifests, "package-lock.json"];
const originals = changed.map((path) => [path, readFileSync(join(root, path), "utf8")] as const);

console.log(`${current} → ${version}: ${[...released].join(", ")}`);
try {
  setVersions();
  run("npm", ["run", "--silent", "build"]);
  pack();
  run(process.execPath, ["scripts/check.ts", ...testArguments]);
} catch (error) {
  restore();
  console.error(error instanceof Error ? error.message : error);
  console.error("The release was not prepared. Every version is as it was.");
  process.exit(1);
}
if (values["dry-run"]) {
  restore();
  console.log(`\nDry run: ${version} passes. Every version is as it was.`);
} else {
  console.log(`\n${version} is ready. Add it to CHANGELOG.md, commit, and push the tag v${version}.`);
}

function setVersions(): void {
  for (const path of manifests) {
    const manifest = readManifest(path);
    bumpManifest(manifest, released, version);
    writeJson(path, manifest);
  }
  const lockfile = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, VersionedManifest>;
  };
  for (const [path, entry] of Object.entries(lockfile.packages)) {
    // Skips installed packages; workspaces are listed by their folders.
    if (path !== "" && !path.includes("node_modules/")) bumpManifest(entry, released, version);
  }
  writeJson("package-lock.json", lockfile);
}

/** Packs every published package into release/, which git ignores. */
function pack(): void {
  rmSync(join(root, "release"), { recursive: true, force: true });
  mkdirSync(join(root, "release"));
  const published = packages.filter((path) => readManifest(path).private !== true);
  const names = published.map((path) => readManifest(path).name ?? "");
  run("npm", [
    "pack",
    "--silent",
    "--pack-destination",
    "release",
    ...names.flatMap((name) => ["--workspace", name]),
  ]);
}

function restore(): void {
  for (const [path, text] of originals) writeFileSync(join(root, path), text);
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
}

function readManifest(path: string): VersionedManifest & { readonly private?: boolean } {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(join(root, path), `${JSON.stringify(value, undefined, 2)}\n`);
}
