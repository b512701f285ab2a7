import { ownersFolder, processTable, sweepOrphans } from "codexkit/process";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { listJsonFiles } from "../daemon/list-json-files.ts";
import type { Finding } from "./finding.ts";
import { findWaitingKeepers, type WaitingKeepers } from "./find-waiting-keepers.ts";

const check = "leftovers";

const identity = z.object({ pid: z.int(), start: z.string() });
const manifest = z.object({ namespace: z.string(), owner: identity, child: identity.optional() });

/**
 * Finds processes whose owner was killed. The next start of codex ends them; `fix` ends them now. Call this
 * before launching codex, which would end them unreported.
 */
export async function checkLeftovers({
  fix = false,
}: {
  readonly fix?: boolean | undefined;
}): Promise<Finding[]> {
  const waiting = describeWaiting(findWaitingKeepers());
  if (fix) return [await endOrphans(), ...waiting];
  const orphans = findOrphans();
  if (orphans.length === 0 && waiting.length > 0) return waiting;
  if (orphans.length === 0) return [{ check, status: "ok", message: "no processes of killed programs" }];
  return [
    {
      check,
      status: "warning",
      message: `Processes of killed programs are still running: ${orphans.join(", ")}`,
      fix: "Run `codexkit doctor --fix`. Starting codex ends them too.",
    },
    ...waiting,
  ];
}

async function endOrphans(): Promise<Finding> {
  const { killed, problems } = await sweepOrphans();
  const message = `Ended ${killed.length} processes of killed programs.`;
  if (problems.length === 0) return { check, status: "ok", message };
  return {
    check,
    status: "failed",
    message: problems.join(" "),
    fix: "Kill these processes as the user who owns them.",
  };
}

/**
 * `fix` does not end these: their turns may still be running, and the daemon continues them when it starts
 * again.
 */
function describeWaiting({ pids, isCertain }: WaitingKeepers): Finding[] {
  if (pids.length === 0) return [];
  if (!isCertain) {
    return [
      {
        check,
        status: "ok",
        message: `App-servers of daemons are running (${pids.join(", ")}). This system does not report whether their daemons are running too.`,
      },
    ];
  }
  return [
    {
      check,
      status: "warning",
      message: `App-servers of killed daemons wait for a daemon to start with their store: ${pids.join(", ")}`,
      fix: `Run \`codexkit serve\` to continue their sessions, or end them with \`kill ${pids.join(" ")}\`.`,
    },
  ];
}

function findOrphans(folder: string = ownersFolder()): number[] {
  const table = processTable();
  const here = table.namespace();
  const isRunning = ({ pid, start }: z.infer<typeof identity>): boolean => table.one(pid)?.start === start;
  return listJsonFiles(folder).flatMap((path) => {
    const read = readManifest(path);
    if (!read || read.namespace !== here || read.owner.start === "" || isRunning(read.owner)) return [];
    return read.child && isRunning(read.child) ? [read.child.pid] : [];
  });
}

function readManifest(path: string): z.infer<typeof manifest> | undefined {
  try {
    return manifest.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}
