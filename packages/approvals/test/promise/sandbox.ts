import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { World } from "./world.ts";

export interface Case {
  readonly shell: "bash" | "dash";
  readonly script: string;
  readonly cwd: string;
}

export interface Report {
  /** Paths below the world's root that were created, changed or removed. */
  readonly changed: readonly string[];
  /** Connections to the listeners of the sandbox. */
  readonly connections: number;
}

export interface PromiseSandbox extends AsyncDisposable {
  /** Runs one script in a fresh copy of the world. Calls run one after the other. */
  run(one: Case): Promise<Report>;
}

/** How long a script may run. Most end immediately; the others have done their harm by then. */
const LIMIT_MS = 1_000;

/** Starts a sandbox with a read-only disk, a writable world, and a network that has only its own listeners. */
export async function startSandbox(world: World): Promise<PromiseSandbox> {
  const pristine = await mkdtemp(join(tmpdir(), "codexkit-pristine-"));
  await cp(world.root, pristine, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const driver = join(import.meta.dirname, "driver.ts");
  const child = spawn(
    findBwrap(),
    [
      "--unshare-all",
      "--die-with-parent",
      "--new-session",
      "--uid",
      "0",
      "--gid",
      "0",
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--proc",
      "/proc",
      "--tmpfs",
      world.root,
      "--chdir",
      world.root,
      "--",
      process.execPath,
      "--no-warnings",
      driver,
      world.root,
      pristine,
      String(LIMIT_MS),
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();
  const ask = async (one: Case): Promise<Report> => {
    child.stdin.write(`${JSON.stringify(one)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`The sandbox ended while it ran: ${one.script}`);
    return JSON.parse(value) as Report;
  };
  return {
    run: (one) => {
      const report = last.then(() => ask(one));
      last = report.catch(() => {});
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
      await rm(pristine, { recursive: true, force: true });
    },
  };
}

/** The system's bubblewrap, or the one that comes with codex. */
function findBwrap(): string {
  if (existsSync("/usr/bin/bwrap")) return "/usr/bin/bwrap";
  const fromHere = createRequire(import.meta.url);
  const fromCodex = createRequire(fromHere.resolve("@openai/codex/package.json"));
  const build = dirname(fromCodex.resolve(`@openai/codex-linux-${process.arch}/package.json`));
  const target = process.arch === "arm64" ? "aarch64-unknown-linux-musl" : "x86_64-unknown-linux-musl";
  return join(build, "vendor", target, "codex-resources", "bwrap");
}

/** Whether this machine can run the promise test: Linux with namespaces for unprivileged users. */
export function canSandbox(): boolean {
  if (process.platform !== "linux") return false;
  try {
    execFileSync(findBwrap(), ["--unshare-all", "--ro-bind", "/", "/", "--", "/bin/true"], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}
