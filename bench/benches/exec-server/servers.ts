import { ExecClient } from "@codexkit/exec-server/client";
import { findCodex } from "@codexkit/testing";
import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";

/** One server with a connected client, and a folder to work in. */
export interface Contender {
  readonly client: ExecClient;
  readonly pid: number;
  readonly url: string;
  readonly folder: string;
}

export interface Contestants extends AsyncDisposable {
  readonly ours: Contender;
  readonly rust: Contender;
}

const require = createRequire(import.meta.url);

/** How long a server may take to start listening. */
const START_MS = 20_000;

export async function startContestants(): Promise<Contestants> {
  await using stack = new AsyncDisposableStack();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "codexkit-bench-exec-")));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const ours = await contender(stack, join(folder, "ours"), process.execPath, ourProgram());
  const rust = await contender(stack, join(folder, "rust"), findCodex().path, ["exec-server"]);
  const owner = stack.move();
  return { ours, rust, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

async function contender(
  stack: AsyncDisposableStack,
  folder: string,
  command: string,
  args: readonly string[],
): Promise<Contender> {
  // Codex creates the PATH aliases that its sandbox needs only outside the temporary folder.
  const home = join(folder, "home");
  const temp = join(folder, "temp");
  for (const path of [home, temp, join(folder, "work")]) await mkdir(path, { recursive: true });
  const child = spawn(command, args, {
    env: { ...process.env, CODEX_HOME: home, TMPDIR: temp },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  stack.defer(() => stop(child));
  const url = await firstLine(child);
  const client = stack.use(await ExecClient.connect(url));
  return { client, pid: child.pid ?? 0, url, folder: join(folder, "work") };
}

export async function firstLine(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  const cancel = new AbortController();
  const signal = AbortSignal.any([cancel.signal, AbortSignal.timeout(START_MS)]);
  const exited = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`${child.spawnfile} exited with code ${code} instead of listening.`);
  });
  try {
    const [line] = (await Promise.race([once(child.stdout, "data", { signal }), exited])) as [Buffer];
    return String(line).trim();
  } finally {
    exited.catch(() => {});
    cancel.abort();
  }
}

/** The program as users run it, built now so that it matches the source. */
export function ourProgram(): string[] {
  const root = dirname(require.resolve("@codexkit/exec-server/package.json"));
  const stdio = ["ignore", "ignore", "inherit"] as const;
  execFileSync("tsc", ["-b", root], { stdio: [...stdio] });
  // `tsc` does not emit the JavaScript of @codexkit/rpc; the bundler does.
  execFileSync(process.execPath, [join(root, "../../scripts/bundle.ts")], { stdio: [...stdio] });
  return [join(root, "bin/codexkit-exec-server.mjs")];
}

export async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
