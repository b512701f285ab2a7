import { createDaemon } from "@codexkit/daemon";
import { DaemonClient } from "@codexkit/daemon/client";
import type { Script } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders, createCodexHome } from "@codexkit/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runCli, type CliOptions, type FinishedCli } from "./cli-process.ts";
import { CliTerminal, type TerminalOptions } from "./cli-terminal.ts";

/** A daemon in the process of the test, on the real codex and a scripted model. */
export interface TestDaemon extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly client: DaemonClient;
  readonly folders: CodexFolders;
  /** The folder of sessions. */
  readonly workspace: string;
  /** IDs of the sessions of killed nodes, by node name. */
  readonly sessions: ReadonlyMap<string, string>;
  /** For a command line that is to find this daemon, with an empty home. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs a command line in the workspace, connected to this daemon. */
  run(args: readonly string[], options?: CliOptions): Promise<FinishedCli>;
  /** Opens a command line in a terminal, in the workspace and connected to this daemon. */
  open(args: readonly string[], options?: TerminalOptions): CliTerminal;
  /** The same as `run` with `--json`, and its lines. */
  json<Value = Record<string, unknown>>(args: readonly string[]): Promise<Value[]>;
}

export interface TestDaemonOptions {
  /** Names of nodes that had the state folder before. Each was killed while it had a session in the workspace. */
  readonly killedNodes?: readonly string[];
  /** Duration of the daemon's lease. Default: that of the daemon. */
  readonly leaseMs?: number;
}

export async function startTestDaemon(
  script: Script,
  { killedNodes = [], leaseMs }: TestDaemonOptions = {},
): Promise<TestDaemon> {
  await using made = new AsyncDisposableStack();
  const folders = made.use(await codexFolders({ model: script }));
  const stateFolder = join(folders.root, "state");
  await createCodexHome(join(stateFolder, "codex"), folders);
  const daemonOptions = {
    stateFolder,
    roots: [folders.workspace],
    userCodexHome: join(folders.root, "no-codex-home"),
    codex: { inheritEnv: false, env: folders.env },
    logger: "silent",
    drainMs: 0,
  } as const;
  const readToken = async (): Promise<string> => (await readFile(join(stateFolder, "token"), "utf8")).trim();
  const sessions = new Map<string, string>();
  for (const name of killedNodes) {
    const program = join(import.meta.dirname, "killed-node-program.ts");
    const child = spawn(
      process.execPath,
      ["--conditions=codexkit:source", program, JSON.stringify({ ...daemonOptions, nodeName: name })],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    const client = new DaemonClient({ url, token: await readToken() });
    const { session } = await client.createSession({ cwd: folders.workspace }, { wait: 30_000 });
    sessions.set(name, session.id);
    const bundle = await client.request("GET /sessions/{sessionId}/debug", {
      params: { sessionId: session.id },
    });
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    for (const { pid } of bundle.codex.appServers) process.kill(Number(pid), "SIGKILL");
  }
  const daemon = await createDaemon({
    ...daemonOptions,
    ...(leaseMs !== undefined && {
      limits: {
        fleet: { leaseMs, renewMs: leaseMs / 10, renewTimeoutMs: leaseMs / 5, freezeMs: leaseMs / 2 },
      },
    }),
  });
  made.defer(async () => daemon.close());
  const url = await daemon.listen();
  const token = await readToken();
  const env = { HOME: join(folders.root, "home"), CODEXKIT_URL: url, CODEXKIT_TOKEN: token };
  const run: TestDaemon["run"] = async (args, options = {}) =>
    runCli(args, { cwd: folders.workspace, ...options, env: { ...env, ...options.env } });
  const owned = made.move();
  return {
    url,
    token,
    client: new DaemonClient({ url, token }),
    folders,
    workspace: folders.workspace,
    sessions,
    env,
    run,
    open: (args, options = {}) =>
      new CliTerminal(args, { cwd: folders.workspace, ...options, env: { ...env, ...options.env } }),
    json: async <Value>(args: readonly string[]) => {
      const { exitCode, stdout, stderr } = await run([...args, "--json"]);
      if (exitCode !== 0) throw new Error(`codexkit ${args.join(" ")} exited with ${exitCode}: ${stderr}`);
      return stdout
        .trimEnd()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Value);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
