import { createServer } from "node:net";
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { once } from "node:events";
import { type DaemonState, findDaemonStates, removeStateFiles } from "../daemon/state-file.ts";
import type { Finding } from "./finding.ts";

const DEFAULT_PORT = 4100;

/** Below this amount, the journal will soon fill the disk. */
const LITTLE_SPACE = 500 * 1024 * 1024;

/** Checks the store's folder, the running daemons, and the port for the next one. */
export async function checkDaemon({
  store = join(homedir(), ".codexkit", "daemon"),
  fix = false,
}: {
  readonly store?: string | undefined;
  readonly fix?: boolean | undefined;
}): Promise<Finding[]> {
  const { running, stale } = await findDaemonStates();
  if (fix) removeStateFiles(stale);
  return [
    checkStore(resolve(store)),
    ...(await Promise.all(running.map(checkRunning))),
    await checkPort(running),
    ...(stale.length === 0 || fix
      ? []
      : [
          {
            check: "leftovers",
            status: "warning",
            message: `${stale.length} state files of daemons that were killed: ${stale.join(", ")}`,
            fix: "Run `codexkit doctor --fix`.",
          } as const,
        ]),
  ];
}

function checkStore(folder: string): Finding {
  const check = "store";
  // The folder is created on first start.
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(existing);
    const free = bavail * bsize;
    const message = `${folder}, ${formatBytes(free)} free`;
    if (free >= LITTLE_SPACE) return { check, status: "ok", message };
    return {
      check,
      status: "warning",
      message,
      fix: "Free some space, or choose another folder with --store.",
    };
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    return {
      check,
      status: "failed",
      message: `${existing} can't be written (${code}).`,
      fix: "Change its owner or mode, or choose another folder with --store.",
    };
  }
}

async function checkRunning({ url, pid }: DaemonState): Promise<Finding> {
  const check = "daemon";
  try {
    const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(5000) });
    if (response.ok) return { check, status: "ok", message: `${url} is ready (process ${pid})` };
    const message = `${url} is not ready (status ${response.status}, process ${pid}).`;
    return {
      check,
      status: "warning",
      message,
      fix: "It is starting or stopping. See its log for the reason.",
    };
  } catch {
    return {
      check,
      status: "failed",
      message: `${url} does not respond, although its process ${pid} is running.`,
      fix: `See its log, or stop it with \`kill ${pid}\`.`,
    };
  }
}

async function checkPort(running: readonly DaemonState[]): Promise<Finding> {
  const check = "port";
  const own = running.find(({ url }) => new URL(url).port === String(DEFAULT_PORT));
  if (own) return { check, status: "ok", message: `${DEFAULT_PORT} is used by the daemon at ${own.url}` };
  const server = createServer().listen(DEFAULT_PORT, "127.0.0.1");
  try {
    await once(server, "listening");
    return { check, status: "ok", message: `${DEFAULT_PORT} is free` };
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    return {
      check,
      status: "warning",
      message: `${DEFAULT_PORT}, the port of \`codexkit serve\`, can't be used (${code}).`,
      fix: "Choose another one with `codexkit serve --listen :PORT`.",
    };
  } finally {
    server.close();
  }
}

function formatBytes(bytes: number): string {
  const gib = bytes / 1024 ** 3;
  return gib >= 1 ? `${gib.toFixed(gib < 10 ? 1 : 0)} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}
