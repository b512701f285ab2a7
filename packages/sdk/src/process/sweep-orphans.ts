import { messageOf } from "@codexkit/rpc/async";
import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { listOwned, sendSignal } from "./end-owned.ts";
import type { Claim } from "./find-owned.ts";
import { SWEEP_LIMITS } from "./limits.ts";
import {
  listManifests,
  type OwnerManifest,
  ownersFolder,
  removeIfEmpty,
  removeManifest,
} from "./owner-manifest.ts";
import { pidExists, type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";
import { readManifest } from "./read-manifest.ts";

/** Result of a sweep. */
export interface SweepReport {
  /** The pids of the processes that it ended. */
  readonly killed: readonly number[];
  /** The removed files: manifests of ended orphans, and files that were not manifests. */
  readonly removed: readonly string[];
  /** Descriptions of failures. */
  readonly problems: readonly string[];
}

interface Orphan {
  readonly path: string;
  readonly claim: Claim;
}

/**
 * Ends the processes of owners that could not clean up (`kill -9`, power failure, debugger), and removes their manifests. Reads
 * only this user's manifests. A process is ended if its owner has exited and its start time, session or mark proves that it
 * belongs to that owner. Never throws, and takes at most `SWEEP_LIMITS`. Sweeps can run concurrently.
 */
export async function sweepOrphans(folder: string = ownersFolder()): Promise<SweepReport> {
  const sweep = new Sweep(processTable());
  try {
    await sweep.run(folder);
  } catch (error) {
    sweep.problems.push(messageOf(error));
  }
  return { killed: [...sweep.killed], removed: sweep.removed, problems: sweep.problems };
}

class Sweep {
  readonly killed = new Set<number>();
  readonly removed: string[] = [];
  readonly problems: string[] = [];
  readonly #system: ProcessTable;

  constructor(system: ProcessTable) {
    this.#system = system;
  }

  async run(folder: string): Promise<void> {
    const files = listManifests(folder);
    const orphans = files.flatMap((path) => this.#findOrphan(path) ?? []);
    await this.#end(orphans);
    for (const { path, claim } of orphans) {
      const left = listOwned(claim, this.#system);
      if (left.length === 0) this.#remove(path);
      else this.problems.push(`Could not end ${left.map(({ pid }) => pid).join(", ")} of ${path}.`);
    }
    if (files.length === 0) removeIfEmpty(folder);
  }

  /** Returns the orphan that a manifest describes. Removes files that describe none. */
  #findOrphan(path: string): Orphan | undefined {
    if (!path.endsWith(".json")) {
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - written > SWEEP_LIMITS.staleFileMs) this.#remove(path);
      return undefined;
    }
    const manifest = readManifest(path);
    if (manifest === undefined) return undefined;
    if (manifest === "corrupt") {
      this.#remove(path);
      return undefined;
    }
    const here = this.#system.namespace();
    if (manifest.namespace !== here) {
      // After a reboot the processes no longer exist. Processes of another container can't be inspected.
      if (bootOf(manifest.namespace) !== bootOf(here)) this.#remove(path);
      return undefined;
    }
    if (this.#isRunning(manifest.owner)) return undefined;
    if (manifest.owner.start === "") {
      // Without start times a pid proves nothing. Codex exits by itself after its owner.
      if (!manifest.child || !pidExists(manifest.child.pid)) this.#remove(path);
      return undefined;
    }
    return { path, claim: this.#toClaim(manifest) };
  }

  #isRunning({ pid, start }: OwnerManifest["owner"]): boolean {
    if (start === "") return pidExists(pid);
    return this.#system.one(pid)?.start === start;
  }

  #toClaim({ mark, child, forks }: OwnerManifest): Claim {
    const now = this.#system.forks();
    // The kernel assigns pids in order: a pid is not reused before as many processes were created as there are pids. Comparing
    // with half of that allows for forks that failed after they got a pid.
    const isPidReserved = forks !== undefined && now !== undefined && now.made - forks < now.pids / 2;
    // A child that exited before it was inspected has no start time. Only its mark identifies its descendants.
    return { mark, leader: child?.start === "" ? undefined : child, isPidReserved };
  }

  async #end(orphans: readonly Orphan[]): Promise<void> {
    for (const [name, limitMs] of [
      ["SIGTERM", SWEEP_LIMITS.terminateTimeoutMs],
      ["SIGKILL", SWEEP_LIMITS.killTimeoutMs],
    ] as const) {
      const signalled = new Set<number>();
      const until = Date.now() + limitMs;
      // Requires two empty searches in a row: during `exec` a process has no readable environment and therefore no mark.
      for (let emptySearches = 0; ;) {
        const left = this.#listRemaining(orphans);
        emptySearches = left.length === 0 ? emptySearches + 1 : 0;
        if (orphans.length === 0 || emptySearches === 2) return;
        for (const { pid } of left) {
          if (signalled.has(pid)) continue;
          signalled.add(pid);
          this.killed.add(pid);
          sendSignal(pid, name);
        }
        if (Date.now() >= until) break;
        await delay(SWEEP_LIMITS.pollIntervalMs);
      }
    }
  }

  #listRemaining(orphans: readonly Orphan[]): ProcessEntry[] {
    if (orphans.length === 0) return [];
    const table = this.#system.all();
    return orphans.flatMap(({ claim }) => listOwned(claim, this.#system, { table }));
  }

  #remove(path: string): void {
    try {
      removeManifest(path);
      this.removed.push(path);
    } catch (error) {
      this.problems.push(`Could not remove ${path}: ${String(error)}`);
    }
  }
}

function bootOf(namespace: string): string {
  return namespace.split(" ")[0] ?? "";
}
