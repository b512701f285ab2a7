import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ownedNow, signal } from "./end-owned.ts";
import type { Claim } from "./find-owned.ts";
import { SWEEP_LIMITS } from "./limits.ts";
import {
  listManifests,
  type OwnerManifest,
  ownersFolder,
  readManifest,
  removeIfEmpty,
  removeManifest,
} from "./owner-manifest.ts";
import { pidExists, type ProcessEntry, type ProcessTable, processTable } from "./process-table.ts";

/** What a sweep did. */
export interface SweepReport {
  /** The pids that it ended. */
  readonly killed: readonly number[];
  /** The manifests that it removed: of orphans that are gone now, and files that were none. */
  readonly removed: readonly string[];
  /** What it could not do, in words. */
  readonly problems: readonly string[];
}

interface Orphan {
  readonly path: string;
  readonly claim: Claim;
}

/**
 * Ends what the owners that died without cleaning up (`kill -9`, a power cut, a debugger) left behind, and their
 * manifests. Goes by the manifests of this user alone: a process is ended when its owner is gone and it is proved, by
 * its start time, its session or its mark, to be that owner's. Never throws, and is over within `SWEEP_LIMITS`. Any
 * number of sweeps may run at once.
 */
export async function sweepOrphans(folder: string = ownersFolder()): Promise<SweepReport> {
  const sweep = new Sweep(processTable());
  try {
    await sweep.run(folder);
  } catch (error) {
    sweep.problems.push(error instanceof Error ? error.message : String(error));
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
    const orphans = files.flatMap((path) => this.#judge(path) ?? []);
    await this.#end(orphans);
    for (const { path, claim } of orphans) {
      const left = ownedNow(claim, this.#system);
      if (left.length === 0) this.#remove(path);
      else this.problems.push(`Could not end ${left.map(({ pid }) => pid).join(", ")} of ${path}.`);
    }
    if (files.length === 0) removeIfEmpty(folder);
  }

  /** The orphan that a file tells of, if it does. */
  #judge(path: string): Orphan | undefined {
    if (!path.endsWith(".json")) {
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - written > SWEEP_LIMITS.unfinishedMs) this.#remove(path);
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
      // After a boot nothing is left of it. In another container its processes are not ours to see, so not to judge.
      if (bootOf(manifest.namespace) !== bootOf(here)) this.#remove(path);
      return undefined;
    }
    if (this.#runs(manifest.owner)) return undefined;
    if (manifest.owner.start === "") {
      // A system that tells no start times: a pid proves nothing. Codex itself leaves when its owner is gone.
      if (!manifest.child || !pidExists(manifest.child.pid)) this.#remove(path);
      return undefined;
    }
    return { path, claim: this.#claim(manifest) };
  }

  #runs({ pid, start }: OwnerManifest["owner"]): boolean {
    if (start === "") return pidExists(pid);
    return this.#system.one(pid)?.start === start;
  }

  #claim({ mark, child, forks }: OwnerManifest): Claim {
    const now = this.#system.forks();
    // The kernel gives pids in turn: none comes again before as many processes were made as there are pids. Half of
    // that leaves room for forks that failed after they got one.
    const numberIsOurs = forks !== undefined && now !== undefined && now.made - forks < now.pids / 2;
    // A child that died before it was looked at has no start: its mark must do.
    return { mark, leader: child?.start === "" ? undefined : child, numberIsOurs };
  }

  async #end(orphans: readonly Orphan[]): Promise<void> {
    for (const [name, limitMs] of [
      ["SIGTERM", SWEEP_LIMITS.terminateMs],
      ["SIGKILL", SWEEP_LIMITS.killMs],
    ] as const) {
      const told = new Set<number>();
      const until = Date.now() + limitMs;
      // Twice: a process that is just becoming another program shows no environment, so no mark.
      for (let quiet = 0; ;) {
        const left = this.#left(orphans);
        quiet = left.length === 0 ? quiet + 1 : 0;
        if (orphans.length === 0 || quiet === 2) return;
        for (const { pid } of left) {
          if (told.has(pid)) continue;
          told.add(pid);
          this.killed.add(pid);
          signal(pid, name);
        }
        if (Date.now() >= until) break;
        await delay(SWEEP_LIMITS.pollMs);
      }
    }
  }

  #left(orphans: readonly Orphan[]): ProcessEntry[] {
    if (orphans.length === 0) return [];
    const table = this.#system.all();
    return orphans.flatMap(({ claim }) => ownedNow(claim, this.#system, table));
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
