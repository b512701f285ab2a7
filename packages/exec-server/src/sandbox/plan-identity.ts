import type { BigIntStats } from "node:fs";
import { readFile } from "node:fs/promises";
import type { MountPlan } from "./mount-plan.ts";

/** Resolution of the kernel's time stamps, with a margin. Two changes within this time may be indistinguishable. */
const SETTLED_NS = 50_000_000n;

/**
 * Describes as text everything that the mounts of a sandbox depend on: the plan, the files and folders
 * themselves, and the mounts of this machine. While it is unchanged, an existing sandbox is identical to a
 * new one.
 *
 * Undefined if something has changed so recently that a further change might not be detected.
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
 * A mount is removed with its mount point. A folder that is created again has another inode, or the same inode number and
 * another birth time. A file can be restored through a hard link, which changes its ctime.
 */
function stampOf(stats: BigIntStats): { readonly text: string; readonly changed: bigint } {
  const { dev, ino, birthtimeNs, ctimeNs } = stats;
  const changed = stats.isDirectory() ? birthtimeNs : ctimeNs;
  return { text: `${dev}:${ino}:${birthtimeNs}:${stats.isDirectory() ? "" : ctimeNs}`, changed };
}
