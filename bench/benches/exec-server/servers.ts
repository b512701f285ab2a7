import { ExecClient } from "@codexkit/exec-server/client";
import { findCodex } from "@codexkit/testing";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** One server with a client on it, and a folder to work in. */
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

/** How long a server may take to listen. */
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
  // Codex makes its PATH aliases, which its sandbox needs, only outside the temp folder.
  const home = join(folder, "home");
  const temp = join(folder, "temp");
  for (const path of [home, temp, join(folder, "work")]) await mkdir(path, { recursive: true });
  const child = spawn(command, args, {
    env: { ...process.env, CODEX_HOME: home, TMPDIR: temp },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  stack.defer(() => stop(child));
  const [line] = (await once(child.stdout, "data", { signal: AbortSignal.timeout(START_MS) })) as [Buffer];
  const url = String(line).trim();
  const client = stack.use(await ExecClient.connect(url));
  return { client, pid: child.pid ?? 0, url, folder: join(folder, "work") };
}

/** The compiled program, as users run it: compiled now, so that it is this very source. */
function ourProgram(): string[] {
  const root = dirname(require.resolve("@codexkit/exec-server/package.json"));
  execFileSync("tsc", ["-b", root], { stdio: ["ignore", "ignore", "inherit"] });
  return [join(root, "bin/codexkit-exec-server.mjs")];
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}
