import type { Script } from "@codexkit/scripted-model";
import { type CodexFolders, codexFolders } from "@codexkit/testing";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CodexOptions, ThreadOptions } from "../../src/compat/index.ts";
import { closeServers } from "../../src/compat/server-pool.ts";
import { findCodex } from "../../src/process/find-codex.ts";

/** A home with a scripted model, for objects that share codex processes. */
export interface PoolStage extends CodexFolders {
  readonly options: CodexOptions & { env: Record<string, string> };
  readonly thread: ThreadOptions;
  /** The processes of codex in these folders. */
  readonly processes: () => Promise<number[]>;
}

export async function poolStage(script: Script): Promise<PoolStage> {
  const stack = new AsyncDisposableStack();
  const folders = stack.use(await codexFolders({ model: script, modelName: "gpt-5.5", modelRetries: 0 }));
  stack.defer(closeServers);
  await mkdir(join(folders.workspace, ".git"));
  await writeFile(join(folders.workspace, ".git/HEAD"), "ref: refs/heads/main\n");
  return {
    ...folders,
    options: { codexPathOverride: findCodex().path, env: folders.env as Record<string, string> },
    thread: { workingDirectory: folders.workspace, sandboxMode: "danger-full-access" },
    processes: () => codexProcesses(folders),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Linux only: other systems hide the environments of processes. */
async function codexProcesses({ codexHome }: CodexFolders): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [environ, command] = await Promise.all(
        ["environ", "cmdline"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
      );
      return environ?.includes(`CODEX_HOME=${codexHome}\0`) && command?.includes("\0app-server\0")
        ? [Number(pid)]
        : [];
    }),
  );
  return found.flat();
}
