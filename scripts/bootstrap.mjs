// Prepares a clone and runs an npm script: `node scripts/bootstrap.mjs check [arguments]`. Plain JavaScript for Node 20 and newer.
// It installs the dependencies in package-lock.json if necessary. Node 24 is one of them, and `npm run` finds it first on PATH.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".codexkit-installed");
const [script, ...scriptArguments] = process.argv.slice(2);

/** Identifies an installation by the lockfile and the platform. */
function stamp() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  hash.update(readFileSync(join(root, "package-lock.json")));
  return hash.digest("hex");
}

function npm(...words) {
  // The npm that runs this script, because on Windows `npm` is a batch file.
  const cli = process.env.npm_execpath;
  const result = cli
    ? spawnSync(process.execPath, [cli, ...words], { cwd: root, stdio: "inherit" })
    : spawnSync("npm", words, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp()) {
  console.error("Installing the dependencies (about 1.1 GB, of which Codex is 440 MB) …");
  // Not `ci`, which fails if the lockfile lacks the optional packages of other platforms.
  const status = npm("install", "--no-audit", "--no-fund", "--loglevel=error");
  if (status !== 0) process.exit(status);
  writeFileSync(stampFile, stamp());
}

process.exit(npm("run", "--silent", script, "--", ...scriptArguments));
