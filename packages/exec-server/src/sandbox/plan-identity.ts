import type { BigIntStats } from "node:fs";
import { readFile } from "node:fs/promises";
import type { MountPlan } from "./mount-plan.ts";

/** Time stamps of the kernel are this coarse at most, with a margin: two changes within it may look like one. */
const SETTLED_NS = 50_000_000n;

/**
 * Everything that the mounts of a sandbox depend on, as text: the plan, the files and folders themselves, and the mounts
 * of this machine. While it stays the same, a sandbox that was set up earlier is the one that would be set up now.
 *
 * Undefined if something was changed a moment ago, so that a second change could go unnoticed.
 */
export async function planIdentity(plan: MountPlan): Promise<string | undefined> {
  const now = BigInt(Date.now()) * 1_000_000n;
  const sources = [...plan.sources].map(([path, stats]) => [path, stampOf(stats)] as const);
  if (sources.some(([, { changed }]) => now - changed < SETTLED_NS)) return undefined;
  const mounts = await readFile("/proc/self/mountinfo", "latin1");
  return JSON.stringify([
    plan.root,
    plan.links,
    plan.mounts,
    plan.missing,
    sources.map(([path, { text }]) => [path, text]),
    mounts,
  ]);
}

/**
 * A mount vanishes when its mount point is deleted. A folder that was deleted never comes back: a new one has another
 * inode, or the same number and another birth time. A file can come back through a hard link, which changes its ctime.
 */
function stampOf(stats: BigIntStats): { readonly text: string; readonly changed: bigint } {
  const { dev, ino, birthtimeNs, ctimeNs } = stats;
  const changed = stats.isDirectory() ? birthtimeNs : ctimeNs;
  return { text: `${dev}:${ino}:${birthtimeNs}:${stats.isDirectory() ? "" : ctimeNs}`, changed };
}
