import { processTable } from "codexkit/process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** Prefix of the folder in which the SDK keeps the socket of an app-server that outlives its daemon. */
const FOLDER_PREFIX = "codexkit-server-";
const KEEPER_FILE = "keeper.json";
const KEEPER_SOCKET = "app-server.sock";

const keeper = z.object({ pid: z.int(), start: z.string() });

/** The list of sockets on Linux. */
const SOCKET_TABLE = "/proc/net/unix";

/** The state of a connected socket in that table. */
const CONNECTED = "03";

export interface WaitingKeepers {
  readonly pids: readonly number[];
  /**
   * Whether no daemon is known to be connected to them. False on systems that don't report connections;
   * `pids` then lists all keepers.
   */
  readonly isCertain: boolean;
}

/**
 * Finds keepers that no daemon is connected to. Their daemon was killed, and they wait for its next start.
 */
export function findWaitingKeepers(
  folder: string = tmpdir(),
  socketTable: string = SOCKET_TABLE,
): WaitingKeepers {
  const connected = listConnectedPaths(socketTable);
  const table = processTable();
  const pids = listFolders(folder).flatMap((each) => {
    const read = readKeeper(each);
    if (!read || read.start === "" || table.one(read.pid)?.start !== read.start) return [];
    return connected?.has(join(each, KEEPER_SOCKET)) ? [] : [read.pid];
  });
  return { pids, isCertain: connected !== undefined };
}

/** Returns the paths of listening sockets that have a connection. */
function listConnectedPaths(socketTable: string): ReadonlySet<string> | undefined {
  try {
    const rows = readFileSync(socketTable, "utf8").split("\n").slice(1);
    return new Set(
      rows.flatMap((row) => {
        const [, , , , , state, , path] = row.trim().split(/\s+/);
        return state === CONNECTED && path !== undefined ? [path] : [];
      }),
    );
  } catch {
    return undefined;
  }
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(FOLDER_PREFIX))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function readKeeper(folder: string): z.infer<typeof keeper> | undefined {
  try {
    return keeper.parse(JSON.parse(readFileSync(join(folder, KEEPER_FILE), "utf8")));
  } catch {
    return undefined;
  }
}
