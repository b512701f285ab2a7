import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { lifetime } from "../process/lifetime.ts";
import { listJsonFiles } from "./list-json-files.ts";

const schema = z.object({
  url: z.url(),
  pid: z.int().positive(),
  /**
   * Start time of the process in a system-specific format, because PIDs are reused. Empty if the system does
   * not report it.
   */
  processStart: z.string(),
  /** Null if the daemon needs no token, or if none is stored on this machine. */
  tokenFile: z.string().nullable(),
  stateFolder: z.string(),
  isDemo: z.boolean(),
  /** Milliseconds since the epoch. */
  startedAt: z.int(),
});

/**
 * A daemon started by `codexkit serve` on this machine. Contains the path of its token file, never the token.
 */
export type DaemonState = z.infer<typeof schema>;

/** Folder with one file per daemon, because several can run with different stores. */
export function statesFolder(home: string = homedir()): string {
  return join(home, ".codexkit", "daemons");
}

/** Writes the state file of this process. It is removed when the process exits. */
export async function writeDaemonState(
  state: Omit<DaemonState, "pid" | "processStart">,
  folder: string = statesFolder(),
): Promise<Disposable> {
  const { processTable } = await import("codexkit/process");
  const processStart = processTable().one(process.pid)?.start ?? "";
  const path = join(folder, `${process.pid}.json`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  const text = `${JSON.stringify({ ...state, pid: process.pid, processStart }, null, 2)}\n`;
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, path);
  const remove = (): void => rmSync(path, { force: true });
  const onExit = lifetime.onExit(remove);
  return {
    [Symbol.dispose]: () => {
      onExit[Symbol.dispose]();
      remove();
    },
  };
}

export interface FoundStates {
  /** Running daemons, newest first. */
  readonly running: readonly DaemonState[];
  /** Files left by daemons that were killed, and files that can't be read. */
  readonly stale: readonly string[];
}

export async function findDaemonStates(folder: string = statesFolder()): Promise<FoundStates> {
  const running: DaemonState[] = [];
  const stale: string[] = [];
  for (const path of listJsonFiles(folder)) {
    const state = readState(path);
    if (state && (await isRunning(state))) running.push(state);
    else stale.push(path);
  }
  return { running: running.toSorted((a, b) => b.startedAt - a.startedAt), stale };
}

export function removeStateFiles(paths: readonly string[]): void {
  for (const path of paths) rmSync(path, { force: true });
}

function readState(path: string): DaemonState | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

async function isRunning({ pid, processStart }: DaemonState): Promise<boolean> {
  const { pidExists, processTable } = await import("codexkit/process");
  if (processStart === "") return pidExists(pid);
  return processTable().one(pid)?.start === processStart;
}
