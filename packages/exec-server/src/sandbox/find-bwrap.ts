import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const TARGETS: Readonly<Record<string, string>> = {
  x64: "x86_64-unknown-linux-musl",
  arm64: "aarch64-unknown-linux-musl",
};

/**
 * Paths used by distributions. PATH is not searched, because a program that can change it could replace its
 * own sandbox.
 */
const SYSTEM = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/** Time limit of the trial run. */
const TRIAL_MS = 5_000;

/** Finds a working bubblewrap: the system's, or the one included with codex. Undefined if there is none. */
export function findBwrap(): string | undefined {
  if (process.platform !== "linux") return undefined;
  return [...SYSTEM, ...shippedWithCodex()].find((path) => existsSync(path) && works(path));
}

/**
 * Whether bubblewrap works here. Some kernels and containers don't allow namespaces, which only a trial run
 * reveals.
 */
export function works(bwrap: string): boolean {
  const args = ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--unshare-net", "--proc", "/proc"];
  // The output proves that the command ran: any other program might exit with 0 too.
  const { status, stdout } = spawnSync(bwrap, [...args, "--", "/bin/sh", "-c", "echo $$"], {
    stdio: ["ignore", "pipe", "ignore"],
    encoding: "utf8",
    timeout: TRIAL_MS,
  });
  // In a new PID namespace, the shell has one of the first PIDs.
  return status === 0 && /^[1-9]\n$/.test(stdout);
}

function shippedWithCodex(): string[] {
  const target = TARGETS[process.arch];
  if (target === undefined) return [];
  try {
    const fromHere = createRequire(import.meta.url);
    const fromCodex = createRequire(fromHere.resolve("@openai/codex/package.json"));
    const build = dirname(fromCodex.resolve(`@openai/codex-linux-${process.arch}/package.json`));
    return [join(build, "vendor", target, "codex-resources", "bwrap")];
  } catch {
    return []; // codex is not installed next to this package.
  }
}
