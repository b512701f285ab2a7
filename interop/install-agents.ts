import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("agents/", import.meta.url));

export const AGENT_MODULES = join(folder, "node_modules");

/** Installs the agents that `agents/package-lock.json` pins, without running their install scripts. Large: about 1.6 GB. */
export function installAgents(): void {
  const stampFile = join(AGENT_MODULES, ".codexkit-installed");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stampOf()) return;
  // `install`, not `ci`: the lockfile may lack other platforms' optional builds, and `ci` rejects such a lockfile.
  const words = [
    "install",
    "--ignore-scripts",
    "--no-workspaces",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  // The npm that runs this script; on Windows `npm` itself is a batch file.
  const cli = process.env["npm_execpath"];
  const { status } = cli
    ? spawnSync(process.execPath, [cli, ...words], { cwd: folder, stdio: "inherit" })
    : spawnSync("npm", words, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0)
    throw new Error(`npm install in interop/agents ended with ${status}. Is the registry reachable?`);
  writeFileSync(stampFile, stampOf());
}

/** Identifies an installation by the lockfile and the platform, which determine the packages and their builds. */
function stampOf(): string {
  return createHash("sha256")
    .update(`${process.platform} ${process.arch}`)
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
}

/** The pinned version of an agent's package. */
export function pinnedVersion(name: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const version = dependencies[name];
  if (version === undefined) throw new Error(`interop/agents/package.json does not have ${name}.`);
  return version;
}
