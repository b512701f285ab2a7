import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecClient } from "../src/client/index.ts";

/** Whether a process exists and is not a zombie. */
export async function lives(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

/** Resolves when none of these processes is left. */
export async function gone(pids: readonly number[]): Promise<void> {
  const until = Date.now() + 20_000;
  for (;;) {
    const left = (await Promise.all(pids.map(lives))).filter(Boolean).length;
    if (left === 0) return;
    if (Date.now() > until) throw new Error(`${left} of ${pids.length} processes are still running`);
    await delay(20);
  }
}

/** The folder that a server keeps its files in, by the former name of one of its pipes. */
export async function runtimeFolder(client: ExecClient): Promise<string> {
  const reader = await client.start({ argv: ["/bin/sh", "-c", "readlink /proc/$$/fd/1"], cwd: "/" });
  return dirname(String((await reader.collect()).stdout).trim());
}
