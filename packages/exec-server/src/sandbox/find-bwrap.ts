import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const TARGETS: Readonly<Record<string, string>> = {
  x64: "x86_64-unknown-linux-musl",
  arm64: "aarch64-unknown-linux-musl",
};

/** Where distributions put it. The PATH is not searched: a program that can change it could choose what confines it. */
const SYSTEM = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/** How long the trial may take. */
const TRIAL_MS = 5_000;

/** A bubblewrap that works here: the system's, or the one that comes with codex. Undefined when there is none. */
export function findBwrap(): string | undefined {
  if (process.platform !== "linux") return undefined;
  return [...SYSTEM, ...shippedWithCodex()].find((path) => existsSync(path) && works(path));
}

/** Some kernels and containers allow no namespaces: only a trial tells. */
export function works(bwrap: string): boolean {
  const args = ["--ro-bind", "/", "/", "--unshare-user", "--unshare-pid", "--unshare-net", "--proc", "/proc"];
  // What it prints shows that it ran the command: any other program may exit with 0 too.
  const { status, stdout } = spawnSync(bwrap, [...args, "--", "/bin/sh", "-c", "echo $$"], {
    stdio: ["ignore", "pipe", "ignore"],
    encoding: "utf8",
    timeout: TRIAL_MS,
  });
  // Inside a namespace of its own, the shell is one of the first processes.
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
    return []; // codex is not installed beside us.
  }
}
