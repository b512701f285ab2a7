import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Contender } from "./servers.ts";

/** Both servers retain closed processes for 30 s; ours collects its garbage within 4 s after that. */
const SETTLE_MS = 40_000;

let settled: Promise<void> | undefined;

/**
 * Returns the megabytes that an idle server occupies after the data retained for its clients has expired. An
 * earlier number would depend on which of the two was busy last.
 */
export async function settledMemory(contender: Contender): Promise<number> {
  settled ??= delay(SETTLE_MS);
  await settled;
  return residentMemory(contender);
}

/** Returns the megabytes that a server and all processes that it started occupy. */
export async function residentMemory({ pid }: Contender): Promise<number> {
  const children = await childrenByParent();
  let total = 0;
  const pids = [pid];
  for (let next = pids.pop(); next !== undefined; next = pids.pop()) {
    total += await residentBytes(next);
    pids.push(...(children.get(next) ?? []));
  }
  return total / 1_000_000;
}

async function childrenByParent(): Promise<Map<number, number[]>> {
  const children = new Map<number, number[]>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    // The state and then the parent follow the name in parentheses, which may contain spaces.
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  return children;
}

/** Proportional share of memory, so that pages shared by a server and its helpers are counted once. */
async function residentBytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(?<kb>\d+) kB$/m.exec(rollup)?.groups?.["kb"] ?? 0) * 1024;
}
