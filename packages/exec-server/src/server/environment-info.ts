import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { basename, resolve } from "node:path";
import type { EnvironmentInfo } from "../wire/exec-wire.ts";
import { pathUri } from "../wire/path-uri.ts";

const SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "sh"]);

/** Describes this machine to clients. `capabilities` lists only what works here. */
export function environmentInfo(
  version: string,
  capabilities: Readonly<Record<string, boolean>>,
): EnvironmentInfo {
  const path = shellPath(process.env["SHELL"]);
  const temporary = process.env["TMPDIR"];
  return {
    shell: { name: basename(path), path },
    executorVersion: version,
    providerId: `sha256:${createHash("sha256").update(machineName()).digest("hex")}`,
    cwd: pathUri(process.cwd()),
    userHomeDir: pathUri(homedir()),
    platformOs: process.platform === "darwin" ? "macos" : process.platform,
    prependPathDirs: [],
    temporaryDirectories: temporary === undefined || temporary === "" ? [] : [pathUri(resolve(temporary))],
    tempDir: pathUri(tmpdir()),
    capabilities,
  };
}

function shellPath(preferred: string | undefined): string {
  if (preferred !== undefined && SHELLS.has(basename(preferred)) && existsSync(preferred)) return preferred;
  return ["/bin/bash", "/usr/bin/bash", "/bin/zsh"].find((path) => existsSync(path)) ?? "/bin/sh";
}

function machineName(): string {
  try {
    return readFileSync("/etc/machine-id", "utf8").trim();
  } catch {
    return hostname();
  }
}
