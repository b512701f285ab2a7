import type { Script, ScriptedModel } from "@codexkit/scripted-model";
import type { STORE_KINDS, TestLocations } from "@codexkit/store/testing";
import { type CodexFolders, codexFolders, createCodexHome } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DaemonClient } from "../src/client/client.ts";
import { createDaemon } from "../src/create-daemon.ts";
import type { Daemon } from "../src/daemon.ts";
import type { DaemonOptions } from "../src/daemon-options.ts";
import { createLogger } from "../src/logger.ts";

/** Folders, model and store, which are shared by all starts of a daemon. */
export interface DaemonHome extends AsyncDisposable {
  readonly folders: CodexFolders;
  readonly stateFolder: string;
  readonly logs: string[];
  readonly options: DaemonOptions;
  /** Starts a daemon on the real codex, and a client. */
  start(options?: DaemonOptions): Promise<StartedDaemon>;
}

export interface StartedDaemon extends AsyncDisposable {
  readonly daemon: Daemon;
  readonly client: DaemonClient;
  readonly token: string;
}

export async function createDaemonHome(
  model: ScriptedModel | Script,
  store: { readonly kind: (typeof STORE_KINDS)[number]; readonly locations: TestLocations },
): Promise<DaemonHome> {
  const folders = await codexFolders({ model });
  const stateFolder = join(folders.root, "state");
  await createCodexHome(join(stateFolder, "codex"), folders);
  const logs: string[] = [];
  const options: DaemonOptions = {
    stateFolder,
    ...(store.kind === "postgres" && { store: await store.locations.create() }),
    nodeName: "here",
    roots: [folders.workspace],
    userCodexHome: join(folders.root, "no-codex-home"),
    codex: { inheritEnv: false, env: folders.env },
    logger: createLogger("info", { write: (line) => logs.push(line) }),
    drainMs: 5000,
  };
  return {
    folders,
    stateFolder,
    logs,
    options,
    start: async (more = {}) => {
      const daemon = await createDaemon({ ...options, ...more });
      const token = (await readFile(join(stateFolder, "token"), "utf8")).trim();
      const client = new DaemonClient({ url: await daemon.listen(), token });
      return { daemon, client, token, [Symbol.asyncDispose]: async () => daemon.close() };
    },
    [Symbol.asyncDispose]: async () => folders[Symbol.asyncDispose](),
  };
}
