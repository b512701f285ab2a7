import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DaemonOptions } from "@codexkit/daemon";
import { DaemonClient } from "@codexkit/daemon/client";
import { tempFolder } from "@codexkit/testing";
import { makeCodexHome } from "../turns/codex-home.ts";
import type { Model } from "../turns/start-model.ts";

export interface FleetNode {
  readonly name: string;
  readonly url: string;
  readonly client: DaemonClient;
  readonly process: ChildProcess;
}

export interface Fleet extends AsyncDisposable {
  readonly nodes: readonly FleetNode[];
  /** A folder below a shared root, so that sessions can move between nodes. */
  readonly workspace: string;
}

export interface FleetOptions {
  readonly model: Model;
  readonly nodes: number;
  /** A `postgres://` URL. Default: SQLite, for one node. */
  readonly store?: string;
  readonly limits?: DaemonOptions["limits"];
}

/** Daemons in separate processes, each with its own codex. */
export async function openFleet({ model, nodes, store, limits }: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const { path: root } = stack.use(await tempFolder("bench-fleet"));
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  const opened: FleetNode[] = [];
  for (let number = 1; number <= nodes; number += 1) {
    const home = stack.use(await makeCodexHome(model));
    const stateFolder = join(dirname(home.workspace), "daemon");
    await mkdir(join(stateFolder, "codex"), { recursive: true });
    await copyFile(
      join(home.env["CODEX_HOME"] ?? "", "config.toml"),
      join(stateFolder, "codex", "config.toml"),
    );
    const name = `node-${number}`;
    const options = {
      stateFolder,
      nodeName: name,
      roots: [workspace],
      sharedRoots: { bench: workspace },
      userCodexHome: join(stateFolder, "none"),
      codex: { codexPath: home.codex, env: home.env, inheritEnv: false },
      ...(store !== undefined && { store }),
      // No load balancer sends requests to these nodes.
      limits: { ...limits, fleet: { drainListenMs: 0, ...limits?.fleet } },
    } satisfies DaemonOptions;
    opened.push(await startNode(name, options, stack));
  }
  const owner = stack.move();
  return { nodes: opened, workspace, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

async function startNode(
  name: string,
  options: DaemonOptions,
  stack: AsyncDisposableStack,
): Promise<FleetNode> {
  const child = fork(new URL("node-program.ts", import.meta.url), [JSON.stringify(options)], {
    execArgv: ["--conditions=codexkit:source"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const failed = exited.then(() => Promise.reject(new Error(`${name} exited before it was ready.`)));
  const [{ url }] = (await Promise.race([once(child, "message"), failed])) as [{ readonly url: string }];
  failed.catch(() => {});
  return { name, url, client: new DaemonClient({ url }), process: child };
}
