// Makes a clone ready and hands over to the npm script named first: `node scripts/bootstrap.mjs check [arguments]`.
// Plain JavaScript for any Node from 20 on: it installs what package-lock.json pins, Node 24 among it, when that is not
// installed yet. `npm run` then finds that Node first on the path.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const stampFile = join(root, "node_modules", ".codexkit-installed");
const [script, ...scriptArguments] = process.argv.slice(2);

/** The lockfile decides what is installed; the platform decides which builds of it. */
function stamp() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  hash.update(readFileSync(join(root, "package-lock.json")));
  return hash.digest("hex");
}

function npm(...words) {
  // The npm that runs this script, on whatever Node it came with; on Windows `npm` itself is a batch file.
  const cli = process.env.npm_execpath;
  const result = cli
    ? spawnSync(process.execPath, [cli, ...words], { cwd: root, stdio: "inherit" })
    : spawnSync("npm", words, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp()) {
  console.error("Installing what package-lock.json pins (Codex is the large one: about 440 MB) …");
  // `install`, not `ci`: the lockfile may lack other platforms' optional builds, and `ci` refuses that.
  const status = npm("install", "--no-audit", "--no-fund", "--loglevel=error");
  if (status !== 0) process.exit(status);
  writeFileSync(stampFile, stamp());
}

process.exit(npm("run", "--silent", script, "--", ...scriptArguments));
